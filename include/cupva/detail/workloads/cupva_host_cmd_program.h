/*
 * cupva_host_cmd_program.h - programs, their parameters and dataflows.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_PROGRAM_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CMD_PROGRAM_H

#include "cupva_host_types_workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `exec` may be NULL: a program that only moves data. */
DLL_EXPORT cupvaError_t CupvaCmdProgramCreate(cupvaCmd_t *cmd, cupvaExecutable_t exec);
DLL_EXPORT cupvaError_t CupvaCmdProgramGetParameter(cupvaCmd_t *cmd, cupvaParameter_t *parameter,
                                           char const *name);

/* The value is copied, and written to VMEM at every launch. */
DLL_EXPORT cupvaError_t CupvaParameterSetValueArray(cupvaParameter_t *parameter, void const *value,
                                           int64_t size);

/* The VPU gets what it needs to reach the memory. */
DLL_EXPORT cupvaError_t CupvaParameterSetValuePointer(cupvaParameter_t *parameter, void const *devicePtr);
DLL_EXPORT cupvaError_t CupvaParameterGetDevicePointer(cupvaParameter_t const *parameter,
                                              void **devicePtr);
DLL_EXPORT cupvaError_t CupvaCmdProgramAddDataFlowHead(cupvaCmd_t *cmd, cupvaDataFlow_t *dataFlow,
                                              cupvaDataFlowType_t type, int32_t phase,
                                              float32_t weight);
DLL_EXPORT cupvaError_t CupvaCmdProgramAddDataFlowHeadShared(cupvaCmd_t *cmd, cupvaDataFlow_t *dataFlow,
                                                    cupvaDataFlowType_t type,
                                                    cupvaDataFlow_t shared);
DLL_EXPORT cupvaError_t CupvaCmdProgramAddDataFlow(cupvaCmd_t *cmd, cupvaDataFlow_t *dataFlow,
                                          cupvaDataFlowType_t type);
DLL_EXPORT cupvaError_t CupvaCmdProgramCompileDataFlows(cupvaCmd_t *cmd);
DLL_EXPORT cupvaError_t CupvaCmdProgramUpdateDataFlows(cupvaCmd_t *cmd);
DLL_EXPORT cupvaError_t CupvaCmdProgramSetL2Size(cupvaCmd_t *cmd, int32_t size);

DLL_EXPORT cupvaError_t CupvaOffsetPointerInit(cupvaOffsetPointer_t *pointer, void *base, int64_t offset);
DLL_EXPORT cupvaError_t CupvaOffsetPointerSetBase(cupvaOffsetPointer_t *pointer, void *base);
DLL_EXPORT cupvaError_t CupvaOffsetPointerSetOffset(cupvaOffsetPointer_t *pointer, int64_t offset);
DLL_EXPORT cupvaError_t CupvaOffsetPointerGet(cupvaOffsetPointer_t const *pointer, void **base,
                                     int64_t *offset);

#ifdef __cplusplus
}
#endif

#endif
