/* SPDX-License-Identifier: Apache-2.0
 *
 * function_api.h - what is asked of kernels by their addresses, and what they are set to; part of
 * cuda_runtime_api.h. cudaErrorInvalidDeviceFunction for what is no kernel.
 */
#ifndef __CUDA_CRT_FUNCTION_API_H__
#define __CUDA_CRT_FUNCTION_API_H__

#include "../driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* What a compiler for a GPU would know of the code is 0. */
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;    /* the device's, as 10 * major + minor */
    int binaryVersion; /* the same */
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout; /* -1: no preference */
    int clusterDimMustBeSet;
    int requiredClusterWidth;
    int requiredClusterHeight;
    int requiredClusterDepth;
    int clusterSchedulingPolicyPreference;
    int nonPortableClusterSizeAllowed;
    int reserved[16];
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9, /* a hint, as what follows */
    cudaFuncAttributeClusterDimMustBeSet = 10,
    cudaFuncAttributeRequiredClusterWidth = 11,
    cudaFuncAttributeRequiredClusterHeight = 12,
    cudaFuncAttributeRequiredClusterDepth = 13,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
    cudaFuncAttributeClusterSchedulingPolicyPreference = 15,
    cudaFuncAttributeMax = 16
};

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_FUNCTION_API_H__ */
