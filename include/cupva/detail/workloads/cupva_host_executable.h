/*
 * cupva_host_executable.h - VPU executables.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_EXECUTABLE_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_EXECUTABLE_H

#include "cupva_host_types_workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaExecutableCreate(cupvaExecutable_t *exec, void const *data, int32_t size);
DLL_EXPORT cupvaError_t CupvaExecutableDestroy(cupvaExecutable_t exec);

#ifdef __cplusplus
}
#endif

#endif
