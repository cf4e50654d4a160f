// Typical host code: typed allocation, default arguments, events, half precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

static __device__ int on_device;

static void CUDART_CB callback(void *user) { *static_cast<int *>(user) = 1; }

template <typename T> static cudaError_t upload(T **device, const std::vector<T> &host) {
    cudaError_t result = cudaMalloc(device, host.size() * sizeof(T));
    return result != cudaSuccess
               ? result
               : cudaMemcpyAsync(*device, host.data(), host.size() * sizeof(T),
                                 cudaMemcpyHostToDevice);
}

int main() {
    std::vector<half> halves(8, __float2half(1.5f));
    half *device_halves = nullptr;
    cudaError_t result = upload(&device_halves, halves);
    float total = 0.f;
    for (half h : halves) {
        total += static_cast<float>(h) + __half2float(h);
    }
    half scaled = __float2half_rn(total) * half(0.5f);
    unsigned short bits = __half_as_ushort(scaled);

    int *managed = nullptr;
    float4 *pinned = nullptr;
    result = cudaMallocManaged(&managed, sizeof(int));
    result = cudaMallocHost(&pinned, sizeof(float4) * 4);
    result = cudaHostAlloc(&pinned, sizeof(float4), cudaHostAllocMapped);
    float4 *mapped = nullptr;
    result = cudaHostGetDevicePointer(&mapped, pinned, 0);
    pinned[0] = make_float4(0.f, 1.f, 2.f, 3.f);

    cudaEvent_t start, stop;
    result = cudaEventCreate(&start);
    result = cudaEventCreate(&stop, cudaEventBlockingSync);
    result = cudaEventRecord(start);
    cudaStream_t stream;
    result = cudaStreamCreate(&stream);
    result = cudaStreamWaitEvent(stream, start);
    result = cudaLaunchHostFunc(stream, callback, managed);
    result = cudaEventRecord(stop, stream);
    result = cudaEventSynchronize(stop);
    float milliseconds = 0.f;
    result = cudaEventElapsedTime(&milliseconds, start, stop);

    cudaDeviceProp properties;
    result = cudaGetDeviceProperties(&properties, 0);
    cudaPointerAttributes attributes;
    result = cudaPointerGetAttributes(&attributes, managed);
    if (attributes.type == cudaMemoryTypeManaged && properties.integrated) {
        on_device = 1;
    }
    dim3 block(16, 16), grid;
    int least, greatest;
    result = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    result = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest);
    cudaStreamCaptureStatus capture;
    result = cudaStreamIsCapturing(stream, &capture);
    result = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    result = cudaStreamEndCapture(stream, &graph);
    result = cudaGraphInstantiate(&executable, graph, NULL, NULL, 0);
    result = cudaGraphInstantiate(&executable, graph, 0);
    result = cudaMemcpy2DAsync(managed, 4, pinned, 4, 4, 1, cudaMemcpyDefault);
    result = cudaGetLastError();
    return static_cast<int>(result) + static_cast<int>(block.x + grid.z + bits) + on_device;
}
