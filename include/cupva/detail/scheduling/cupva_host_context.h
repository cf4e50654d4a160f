/*
 * cupva_host_context.h - what all other objects belong to; current for each thread.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CONTEXT_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CONTEXT_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaContextGetCurrent(cupvaContext_t *context);
DLL_EXPORT cupvaError_t CupvaContextSetCurrent(cupvaContext_t context);
DLL_EXPORT cupvaError_t CupvaContextCreate(cupvaContext_t *context, uint32_t engineMask);
DLL_EXPORT cupvaError_t CupvaContextDestroy(cupvaContext_t context);
DLL_EXPORT cupvaError_t CupvaGetStatus(cupvaStatus_t *status);

#ifdef __cplusplus
}
#endif

#endif
