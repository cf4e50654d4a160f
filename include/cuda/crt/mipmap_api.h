/* SPDX-License-Identifier: Apache-2.0
 *
 * mipmap_api.h - mipmapped arrays, and what is asked of arrays; part of cuda_runtime_api.h.
 */
#ifndef __CUDA_CRT_MIPMAP_API_H__
#define __CUDA_CRT_MIPMAP_API_H__

#include "../driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

struct cudaArrayMemoryRequirements {
    size_t size;
    size_t alignment;
    unsigned int reserved[4];
};

struct cudaArraySparseProperties {
    struct {
        unsigned int width;
        unsigned int height;
        unsigned int depth;
    } tileExtent;
    unsigned int miptailFirstLevel;
    unsigned long long miptailSize;
    unsigned int flags;
    unsigned int reserved[4];
};

/* As many levels as the extent has halves, at most. Each is an array, half as large as the one before, which goes with
 * all of them; kernels read them by a texture with normalized coordinates (tex2DLod). */
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned int numLevels,
                                     unsigned int flags CUDLA_SIM_DEFAULT(0));
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                       unsigned int level);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);

/* cudaErrorInvalidValue: there are no arrays whose memory is mapped later, in part, or as several planes. */
cudaError_t cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements, cudaArray_t array,
                                           int device);
cudaError_t cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                    cudaMipmappedArray_t mipmap, int device);
cudaError_t cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties, cudaArray_t array);
cudaError_t cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                  cudaMipmappedArray_t mipmap);
cudaError_t cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx);
/* Elements of linear memory that a texture can have. */
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                 const struct cudaChannelFormatDesc *fmtDesc, int device);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_MIPMAP_API_H__ */
