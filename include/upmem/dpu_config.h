/*
 * dpu_config.h - resetting ranks and DPUs.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_CONFIG_H
#define CUDLA_SIM_UPMEM_DPU_CONFIG_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

dpu_error_t dpu_reset_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_reset_dpu(struct dpu_t *dpu);

#ifdef __cplusplus
}
#endif

#endif
