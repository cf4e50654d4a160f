/*
 * cupva_host_cmd.h - commands.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUPVA_OPERATION_PENDING until the command has ended. */
DLL_EXPORT cupvaError_t CupvaCheckCommandStatus(cupvaCmdStatus_t const status, cupvaError_t *statusCode);
DLL_EXPORT cupvaError_t CupvaCmdDestroy(cupvaCmd_t *cmd);

#ifdef __cplusplus
}
#endif

#endif
