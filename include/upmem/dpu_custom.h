/*
 * dpu_custom.h - commands with which a backend can be told of events.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_CUSTOM_H
#define CUDLA_SIM_UPMEM_DPU_CUSTOM_H

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _dpu_custom_command_t {
    DPU_COMMAND_DPU_SOFT_RESET = 0,
    DPU_COMMAND_ALL_SOFT_RESET = 1,
    DPU_COMMAND_DPU_PREEXECUTION = 2,
    DPU_COMMAND_ALL_PREEXECUTION = 3,
    DPU_COMMAND_DPU_POSTEXECUTION = 4,
    DPU_COMMAND_ALL_POSTEXECUTION = 5,
    DPU_COMMAND_CUSTOM_LABEL = 6,
    DPU_COMMAND_POSTMORTEM = 7,
    DPU_COMMAND_SYSTEM_REPORT = 8,
    DPU_COMMAND_BINARY_PATH = 9,
    DPU_COMMAND_EVENT_START = 10,
    DPU_COMMAND_EVENT_END = 11,
    DPU_COMMAND_SET_SLICE_INFO = 12
} dpu_custom_command_t;

typedef void *dpu_custom_command_args_t;

dpu_error_t dpu_custom_for_rank(struct dpu_rank_t *rank, dpu_custom_command_t command,
                                dpu_custom_command_args_t args);
dpu_error_t dpu_custom_for_dpu(struct dpu_t *dpu, dpu_custom_command_t command,
                               dpu_custom_command_args_t args);

#ifdef __cplusplus
}
#endif

#endif
