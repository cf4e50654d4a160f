/*
 * cupva_host_cmd_l2ops.h - coherence of L2SRAM and DRAM.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_L2OPS_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_L2OPS_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaCmdL2OpsCreate(cupvaCmd_t *cmd, cupvaL2OperationType_t operation,
                                   void *devicePtr);

#ifdef __cplusplus
}
#endif

#endif
