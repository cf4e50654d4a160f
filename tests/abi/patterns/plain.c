/* All of it from C. */
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cudla.h>
#include <cudlaExternalEtbl.hpp>
#include <nvscisync.h>

static void callback(void *user) { *(int *)user = 1; }

int main(void) {
    cudlaDevHandle device = NULL;
    uint64_t version = 0;
    int flag = 0;
    void *memory = NULL;
    struct cudaDeviceProp properties;
    struct cudaPointerAttributes attributes;
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaStream_t stream = NULL;
    NvSciSyncFence fence = NvSciSyncFenceInitializer;
    uint32_t alignment[NV_SCI_BUF_TENSOR_MAX_DIMS] = {1};
    const cudlaExternalEtbl *table = NULL;
    half h = __float2half(0.25f);
    float4 v = make_float4(1.f, 2.f, 3.f, 4.f);

    if (cudlaGetVersion(&version) != cudlaSuccess ||
        cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA) != cudlaSuccess ||
        cudlaGetExternalExportTable(&table, 0) != cudlaSuccess) {
        return 1;
    }
    if (cudaMalloc(&memory, 16) != cudaSuccess || cudaMallocManaged(&memory, 16, cudaMemAttachGlobal) ||
        cudaGetDeviceProperties(&properties, 0) || cudaPointerGetAttributes(&attributes, memory) ||
        cudaStreamIsCapturing(stream, &capture) || cudaLaunchHostFunc(stream, callback, &flag) ||
        cudaMemcpyAsync(memory, memory, 16, cudaMemcpyDefault, cudaStreamLegacy)) {
        return 2;
    }
    NvSciSyncFenceClear(&fence);
    return __half2float(h) + v.x + (float)alignment[0] > 0.f ? 0 : 3;
}
