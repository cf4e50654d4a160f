/*
 * cupva_host_sync_obj.h - counters that fences refer to.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_SYNC_OBJ_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_SYNC_OBJ_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaSyncObjCreate(cupvaSyncObj_t *syncObj, bool isTimeStamp,
                                  cupvaSyncClientType_t clientType,
                                  cupvaSyncWaitMode_t waitMode);
DLL_EXPORT cupvaError_t CupvaSyncObjDestroy(cupvaSyncObj_t syncObj);

#ifdef __cplusplus
}
#endif

#endif
