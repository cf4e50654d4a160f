/*
 * cupva_host_mem_alloc.h - device memory.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_MEM_ALLOC_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_MEM_ALLOC_H

#include "cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `access` must be CUPVA_READ_WRITE. CVSRAM falls back to DRAM. */
DLL_EXPORT cupvaError_t CupvaMemAlloc(void **devicePtr, int64_t size, cupvaMemAccessType_t access,
                             cupvaMemAllocType_t type);
DLL_EXPORT cupvaError_t CupvaMemFree(void *devicePtr);
DLL_EXPORT cupvaError_t CupvaMemGetHostPointer(void **hostPtr, void *devicePtr);
DLL_EXPORT cupvaError_t CupvaMemRegister(const void *ptr, int64_t size, cupvaExternalAllocType_t type);
DLL_EXPORT cupvaError_t CupvaMemUnregister(const void *ptr);
DLL_EXPORT cupvaError_t CupvaMemImportFromHostPtr(void **devicePtr, void *hostPtr, int64_t size,
                                         cupvaMemAccessType_t access);
DLL_EXPORT cupvaError_t CupvaMemMapL2(void **l2Ptr, void *devicePtr, int64_t size,
                             cupvaL2SRAMPolicyType_t policy);
DLL_EXPORT cupvaError_t CupvaMemUnmapL2(void *l2Ptr);

#ifdef __cplusplus
}
#endif

#endif
