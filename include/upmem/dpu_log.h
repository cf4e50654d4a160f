/*
 * dpu_log.h - what a DPU has printed.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_LOG_H
#define CUDLA_SIM_UPMEM_DPU_LOG_H

#include <stdio.h>

#include "dpu_error.h"
#include "dpu_log_internals.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the output of the last launch of one DPU, without the head that dpu_log_read writes.
 * DPU_ERR_MRAM_BUSY while DPUs of its rank run. */
dpu_error_t dpulog_read_for_dpu(struct dpu_t *dpu, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
