/*
 * cupva_host_cmd_barrier.h - waits for all commands before it.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_BARRIER_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_BARRIER_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaCmdBarrierInit(cupvaCmd_t *cmd);

#ifdef __cplusplus
}
#endif

#endif
