/* dla_sched.h - what the firmware keeps of a task, and what it is told about the hardware. */
#ifndef __DLA_SCHED_H_
#define __DLA_SCHED_H_

#include <stdbool.h>
#include <stdint.h>

/* Where the lists of the task in progress lie, as the portability layer names them. */
struct dla_task {
    void *task_data;
    uint32_t state;
    uint64_t base;
    uint64_t operation_desc_addr;
    uint64_t surface_desc_addr;
    uint64_t dependency_graph_addr;
    uint64_t lut_data_addr;
    uint64_t roi_array_addr;
    uint64_t surface_addr;
    uint64_t stat_data_addr;
}
#ifndef CUDLA_SIM_PARSE
__attribute__((packed, aligned(256)))
#endif
;

/* The config_data of dla_execute_task. */
struct dla_config {
    uint32_t atom_size; /* bytes of a memory atom: 32 (nv_full, nv_large) or 8 (nv_small) */
    bool bdma_enable;
    bool rubik_enable;
    bool weight_compress_support;
};

#endif
