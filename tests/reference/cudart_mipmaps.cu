/* Mipmapped arrays: levels of an array, read by a level of detail. */
#include "check.h"

#include <cuda.h>

#define CALL(call) CHECK((call) == cudaSuccess)
#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)

enum { SIZE = 8, LEVELS = 4 };

__global__ void look(float *out, cudaTextureObject_t texture)
{
    out[0] = tex2DLod<float>(texture, 0.5f, 0.5f, 0.0f);
    out[1] = tex2DLod<float>(texture, 0.5f, 0.5f, 1.0f);
    out[2] = tex2DLod<float>(texture, 0.5f, 0.5f, 1.5f);
    out[3] = tex2DLod<float>(texture, 0.5f, 0.5f, 100.0f);
    out[4] = tex2D<float>(texture, 0.5f, 0.5f);
    /* a pixel steps over four texels: the third level */
    out[5] = tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(4.0f / SIZE, 0), make_float2(0, 1.0f / SIZE));
}

/* Level i is full of 10 * i + 1. */
static void fill(cudaArray_t level, int i)
{
    float values[SIZE * SIZE];
    int size = SIZE >> i;
    for (float &value : values)
        value = 10.0f * i + 1.0f;
    CALL(cudaMemcpy2DToArray(level, 0, 0, values, sizeof(float) * size, sizeof(float) * size, size,
                             cudaMemcpyHostToDevice));
}

static void check(cudaTextureObject_t texture, const float *wanted)
{
    float *out, back[6];
    CALL(cudaMalloc(&out, sizeof back));
    look<<<1, 1>>>(out, texture);
    CALL(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++)
        CHECK(back[i] == wanted[i]);
    CALL(cudaFree(out));
}

static void of_the_runtime()
{
    cudaMipmappedArray_t mipmap;
    cudaArray_t level, none;
    cudaExtent extent, size;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArrayMemoryRequirements requirements;
    cudaArraySparseProperties sparse;
    CALL(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(SIZE, SIZE, 0), 100)); /* as many as there are */
    for (int i = 0; i < LEVELS; i++) {
        CALL(cudaGetMipmappedArrayLevel(&level, mipmap, i));
        CALL(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
        size = make_cudaExtent(SIZE >> i, SIZE >> i, 0);
        CHECK(extent.width == size.width && extent.height == size.height && extent.depth == 0);
        fill(level, i);
    }
    CHECK(cudaGetMipmappedArrayLevel(&none, mipmap, LEVELS) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(level) == cudaErrorInvalidValue); /* it goes with all of them */
    CHECK(cudaArrayGetMemoryRequirements(&requirements, level, 0) == cudaErrorInvalidValue);
    CHECK(cudaMipmappedArrayGetMemoryRequirements(&requirements, mipmap, 0) == cudaErrorInvalidValue);
    CHECK(cudaArrayGetSparseProperties(&sparse, level) == cudaErrorInvalidValue);
    CHECK(cudaMipmappedArrayGetSparseProperties(&sparse, mipmap) == cudaErrorInvalidValue);
    CHECK(cudaArrayGetPlane(&none, level, 0) == cudaErrorInvalidValue);
    size_t width = 0;
    CALL(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
    CHECK(width >= 1 << 27);

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    how.filterMode = cudaFilterModePoint;
    how.mipmapFilterMode = cudaFilterModeLinear;
    how.maxMipmapLevelClamp = LEVELS - 1;
    cudaTextureObject_t texture;
    CALL(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    const float between[] = {1, 11, 16, 31, 1, 21};
    check(texture, between);
    CALL(cudaDestroyTextureObject(texture));
    how.mipmapFilterMode = cudaFilterModePoint;
    how.mipmapLevelBias = 1;
    how.maxMipmapLevelClamp = 2;
    CALL(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    const float nearest[] = {11, 21, 21, 21, 11, 21};
    check(texture, nearest);
    CALL(cudaDestroyTextureObject(texture));
    how.normalizedCoords = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr) == cudaErrorInvalidValue);
    CALL(cudaFreeMipmappedArray(mipmap));
}

static void of_the_driver()
{
    CUmipmappedArray mipmap;
    CUarray level, none;
    CUDA_ARRAY3D_DESCRIPTOR desc = {}, told;
    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    desc.Width = desc.Height = SIZE;
    desc.Format = CU_AD_FORMAT_FLOAT;
    desc.NumChannels = 1;
    DRIVER(cuMipmappedArrayCreate(&mipmap, &desc, LEVELS));
    for (int i = 0; i < LEVELS; i++) {
        DRIVER(cuMipmappedArrayGetLevel(&level, mipmap, i));
        fill((cudaArray_t)level, i);
    }
    DRIVER(cuArray3DGetDescriptor(&told, level));
    CHECK(told.Width == 1 && told.Height == 1 && told.Format == CU_AD_FORMAT_FLOAT);
    CHECK(cuArrayGetMemoryRequirements(&requirements, level, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMipmappedArrayGetMemoryRequirements(&requirements, mipmap, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuArrayGetSparseProperties(&sparse, level) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMipmappedArrayGetSparseProperties(&sparse, mipmap) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuArrayGetPlane(&none, level, 0) == CUDA_ERROR_INVALID_VALUE);
    size_t width = 0;
    DRIVER(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 0));
    CHECK(width >= 1 << 27);
    CUDA_RESOURCE_DESC resource = {}, resource_told;
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = mipmap;
    CUDA_TEXTURE_DESC how = {};
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    how.maxMipmapLevelClamp = LEVELS;
    CUtexObject texture;
    DRIVER(cuTexObjectCreate(&texture, &resource, &how, nullptr));
    DRIVER(cuTexObjectGetResourceDesc(&resource_told, texture));
    CHECK(resource_told.res.mipmap.hMipmappedArray == mipmap);
    const float between[] = {1, 11, 16, 31, 1, 21};
    check(texture, between);
    DRIVER(cuTexObjectDestroy(texture));
    DRIVER(cuMipmappedArrayDestroy(mipmap));
}

int main()
{
    of_the_runtime();
    of_the_driver();
    printf("ok\n");
}
