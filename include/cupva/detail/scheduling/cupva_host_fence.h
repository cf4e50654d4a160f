/*
 * cupva_host_fence.h - points in time of a sync object.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_FENCE_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_FENCE_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaFenceInit(cupvaFence_t *fence, cupvaSyncObj_t syncObj);

/* Microseconds; negative: for ever. *waitSuccess is false when the time ran out. */
DLL_EXPORT cupvaError_t CupvaFenceWait(cupvaFence_t const *fence, int64_t timeout, bool *waitSuccess);

/* Nanoseconds; needs a sync object with time stamps. */
DLL_EXPORT cupvaError_t CupvaFenceGetTimeStamp(cupvaFence_t const *fence, uint64_t *timeStamp);

#ifdef __cplusplus
}
#endif

#endif
