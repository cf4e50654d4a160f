/* The parts of the runtime that every VPU program is linked with. */
#ifndef CUDLA_SIM_VPU_RT_H
#define CUDLA_SIM_VPU_RT_H

#include "dma.h"
#include "protocol.h"

/* One tile of a gather or scatter, in pixels; vmem: byte offset. As in cupva_device_native.h. */
struct pva_gather {
    int64_t x, y, width, height;
    uint32_t w, h, pitch, vmem, pad_mode;
    int32_t external_pitch;
    uint64_t external;
};
#define PVA_GATHER_FROM_HOST UINT64_MAX

int32_t cupva_vpu_main(void); /* the kernel: CUPVA_VPU_MAIN() of its sources */

/* memory.c */
extern struct pva_reply *rt_reply;
extern const char *rt_control; /* the whole control file */
extern struct pva_memory rt_memory;
/* The descriptors of the control file, VMEM, DRAM and L2SRAM, a socket, bytes of DRAM and L2SRAM; gives
   the control file. */
char *rt_memory_setup(char **words);

/* image.c */
void rt_image_setup(int vmem_file);
void rt_image_reset(void);
const uint8_t *rt_image_overrun(void);

/* faults.c */
void rt_faults_setup(void (*end)(void)); /* `end`: ends the process after a fault */
void rt_faults_begin(void); /* of a launch */
void pva_rt_nan_errors(int enabled);
_Noreturn void rt_stop(uint32_t status, uint32_t cause, uint32_t flow, uint64_t address,
                       const char *text, void *caller);
_Noreturn void pva_rt_misuse(const char *text); /* device headers call it as well */

/* flows.c: what the device headers call as well */
int rt_flows_begin(const struct pva_flow_request *requests, uint32_t count);
void rt_flows_drain(void);
void rt_flows_end(void);
int rt_flows_remarks(void);
void pva_rt_trigger(uint32_t number);
void pva_rt_sync(uint32_t number);
void pva_rt_stage_side(uint32_t number, uint32_t index, int destination, int space, uint64_t at,
                       int64_t pitch);
void pva_rt_stage_tile(uint32_t number, uint32_t index, uint32_t tx, uint32_t ty);
void pva_rt_flush(uint32_t number);
void pva_rt_gather(uint32_t number, const struct pva_gather *gather);
void pva_rt_gather_sync(uint32_t number);
void pva_rt_hold(uint32_t number, int held);

/* worker.c */
uint32_t pva_rt_vpu_id(void);

#endif
