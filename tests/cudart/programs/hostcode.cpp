// Ordinary host code: typed allocation, copies of every kind, events, default arguments.
#include <cuda_runtime.h>

#include <cstdio>
#include <numeric>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t result_ = (call);                                                              \
        if (result_ != cudaSuccess) {                                                              \
            std::printf("%s: %s: %s\n", #call, cudaGetErrorName(result_),                          \
                        cudaGetErrorString(result_));                                              \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main() {
    CHECK(cudaFree(0));
    CHECK(cudaSetDevice(0));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s %d.%d integrated %d\n", properties.name, properties.major, properties.minor,
                properties.integrated);

    const size_t count = 1 << 20;
    std::vector<int> source(count), result(count);
    std::iota(source.begin(), source.end(), 0);
    int *first = nullptr, *second = nullptr, *managed = nullptr;
    CHECK(cudaMalloc(&first, count * sizeof(int)));
    CHECK(cudaMalloc((void **)&second, count * sizeof(int)));
    CHECK(cudaMallocManaged(&managed, count * sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    CHECK(cudaEventRecord(start, stream));
    CHECK(cudaMemcpyAsync(first, source.data(), count * sizeof(int), cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(second, first, count * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpyAsync(managed, second, count * sizeof(int), cudaMemcpyDefault, stream));
    CHECK(cudaMemcpyAsync(result.data(), second, count * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    bool equal = result == source && std::equal(source.begin(), source.end(), managed);
    std::printf("equal %d time %d\n", equal, milliseconds > 0 && milliseconds < 60000);

    cudaError_t wrong = cudaMemcpy(first, source.data(), (count + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError();
    std::printf("%s %s %d\n", cudaGetErrorName(wrong), cudaGetErrorName(peeked),
                last == wrong && cudaGetLastError() == cudaSuccess);
    CHECK(cudaFree(first));
    CHECK(cudaFree(second));
    CHECK(cudaFree(managed));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaDeviceReset());
    std::puts("done");
    return 0;
}
