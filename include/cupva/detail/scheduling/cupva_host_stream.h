/*
 * cupva_host_stream.h - queues of commands.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_STREAM_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_STREAM_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaStreamCreate(cupvaStream_t *stream, cupvaEngineType_t engine,
                                 cupvaAffinityType_t affinity);
DLL_EXPORT cupvaError_t CupvaStreamDestroy(cupvaStream_t stream);

/* `status` may be NULL, else it has `count` places. Timeouts in microseconds, -1: none. */
DLL_EXPORT cupvaError_t CupvaStreamSubmit(cupvaStream_t stream, cupvaCmd_t const *const *cmds,
                                 cupvaCmdStatus_t *status, int32_t count, cupvaOrderType_t order,
                                 int32_t executionTimeout, int32_t submitTimeout);
DLL_EXPORT cupvaError_t CupvaStreamSubmitCmdBuffer(cupvaStream_t stream, cupvaCmdBuffer_t buffer,
                                          int32_t executionTimeout, int32_t submitTimeout);
DLL_EXPORT cupvaError_t CupvaStreamSynchronize(cupvaStream_t stream);
DLL_EXPORT cupvaError_t CupvaStreamSetName(cupvaStream_t stream, char const *name);

#ifdef __cplusplus
}
#endif

#endif
