/*
 * dpu_runner.h - starting DPUs and asking for their state, one rank or DPU at a time.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_RUNNER_H
#define CUDLA_SIM_UPMEM_DPU_RUNNER_H

#include <stdbool.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct _dpu_run_context_t;
typedef struct _dpu_run_context_t *dpu_run_context_t;

dpu_error_t dpu_launch_thread_on_rank(struct dpu_rank_t *rank, dpu_thread_t thread,
                                      bool should_resume);
dpu_error_t dpu_launch_thread_on_dpu(struct dpu_t *dpu, dpu_thread_t thread, bool should_resume);
dpu_error_t dpu_poll_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_poll_dpu(struct dpu_t *dpu, bool *dpu_is_running, bool *dpu_is_in_fault);
dpu_run_context_t dpu_get_run_context(struct dpu_rank_t *rank);

/* Starts without waiting. */
dpu_error_t dpu_boot_dpu(struct dpu_t *dpu);
dpu_error_t dpu_boot_rank(struct dpu_rank_t *rank);

dpu_error_t dpu_status_rank(struct dpu_rank_t *rank, bool *done, bool *fault);
dpu_error_t dpu_status_dpu(struct dpu_t *dpu, bool *done, bool *fault);

#ifdef __cplusplus
}
#endif

#endif
