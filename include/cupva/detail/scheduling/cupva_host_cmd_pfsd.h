/*
 * cupva_host_cmd_pfsd.h - diagnostics for permanent faults.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_PFSD_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_PFSD_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaCmdPFSDCreate(cupvaCmd_t *cmd, uint32_t index);
DLL_EXPORT cupvaError_t CupvaGetPFSDTestCount(uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif
