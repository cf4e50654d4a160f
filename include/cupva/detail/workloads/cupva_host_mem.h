/*
 * cupva_host_mem.h - questions about memory.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_MEM_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_MEM_H

#include "cupva_host_types_workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

struct PlanarGeometry; /* cupva_types.h */

DLL_EXPORT cupvaError_t CupvaMemGetL2BaseAddress(void **base);
DLL_EXPORT cupvaError_t CupvaMemGetPointerAttributes(void const *devicePtr,
                                            cupvaPointerAttributes_t *attributes);
DLL_EXPORT cupvaError_t CupvaMemGetSurfaceAttributes(void const *devicePtr,
                                            cupvaSurfaceAttributes_t *attributes);
DLL_EXPORT cupvaError_t CupvaMemConvertToGeometry(cupvaSurfaceAttributes_t const *attributes, int32_t bpp,
                                         struct PlanarGeometry *geometry);

#ifdef __cplusplus
}
#endif

#endif
