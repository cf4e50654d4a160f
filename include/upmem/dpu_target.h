/*
 * dpu_target.h - the kinds of backend that can run DPU programs.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_TARGET_H
#define CUDLA_SIM_UPMEM_DPU_TARGET_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dpu_type_t {
    FUNCTIONAL_SIMULATOR = 0,
    CYCLE_ACCURATE_SIMULATOR = 1,
    RTL_SIMULATOR = 2,
    HW = 3,
    BACKUP_SPI = 4,
    SCENARIO = 5,
    NB_OF_DPU_TYPES = 6
} dpu_type_t;

#ifdef __cplusplus
}
#endif

#endif
