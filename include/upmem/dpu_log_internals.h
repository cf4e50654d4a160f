/*
 * dpu_log_internals.h - DPU output through a function of the program.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_LOG_INTERNALS_H
#define CUDLA_SIM_UPMEM_DPU_LOG_INTERNALS_H

#include <stddef.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPU_LOG_FORMAT_HEADER "=== DPU#0x%x ===\n"

/* Takes one piece of output, like fprintf takes it; anything but DPU_OK ends the reading. */
typedef dpu_error_t (*dpu_log_print_fct_t)(void *arg, const char *fmt, ...);

dpu_error_t dpulog_read_for_dpu_(struct dpu_t *dpu, dpu_log_print_fct_t print_fct, void *arg);

/* The same for a copy of a DPU's output buffer. */
dpu_error_t dpulog_read_and_display_contents_of(void *input, size_t input_size,
                                                dpu_log_print_fct_t print_fct,
                                                void *print_fct_arg);

/* A dpu_log_print_fct_t whose `arg` is a FILE. */
dpu_error_t dpulog_c_print_fct(void *arg, const char *fmt, ...);

#ifdef __cplusplus
}
#endif

#endif
