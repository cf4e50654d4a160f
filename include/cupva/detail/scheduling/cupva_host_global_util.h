/*
 * cupva_host_global_util.h - versions, hardware, the last error.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_GLOBAL_UTIL_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_GLOBAL_UTIL_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaGetHardwareInfo(cupvaHardwareInfo_t *info);

/* Why the last failed call of this thread failed. The text lives until the next failure. */
DLL_EXPORT cupvaError_t CupvaGetLastError(char const **message);
DLL_EXPORT cupvaError_t CupvaGetDriverVersion(uint32_t *version);
DLL_EXPORT cupvaError_t CupvaGetRuntimeVersion(uint32_t *version);

#ifdef __cplusplus
}
#endif

#endif
