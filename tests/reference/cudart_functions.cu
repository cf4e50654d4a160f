/* Kernels by their addresses: what they are set to, how many blocks fit, launches by a configuration. */
#include "check.h"

#include <cstring>

#define CALL(call) CHECK((call) == cudaSuccess)

extern "C" __global__ void fill(int *to, int with) { to[threadIdx.x] = with; }

static void settings(const void *func)
{
    cudaFuncAttributes attributes;
    const char *name;
    cudaKernel_t kernel = nullptr;
    CALL(cudaFuncSetAttribute(func, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    CALL(cudaFuncGetAttributes(&attributes, func));
    CHECK(attributes.maxDynamicSharedSizeBytes == 64 << 10 && attributes.maxThreadsPerBlock == 1024);
    CHECK(attributes.binaryVersion == 87);
    CALL(cudaFuncSetCacheConfig(func, cudaFuncCachePreferL1));
    CALL(cudaFuncSetSharedMemConfig(func, cudaSharedMemBankSizeFourByte));
    CALL(cudaFuncGetName(&name, func));
    CHECK(strcmp(name, "fill") == 0);
    CALL(cudaGetKernel(&kernel, func));
    CHECK(kernel != nullptr);
    CHECK(cudaFuncGetAttributes(&attributes, &attributes) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaFuncSetAttribute(func, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) == cudaErrorInvalidValue);
}

static void occupancy(const void *func)
{
    int blocks = 0, grid, threads;
    size_t shared;
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, func, 128, 0));
    CHECK(blocks >= 1);
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, func, 128, 1 << 20, cudaOccupancyDefault));
    CHECK(blocks == 0);
    CALL(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, func, 1, 128));
    CHECK(shared >= 48 << 10);
    CALL(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, fill));
    CHECK(threads == 1024 && grid >= 1);
    CALL(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &threads, fill, [](int of) { return of << 10; }));
    CHECK(0 < threads && threads < 1024);
}

static void configured()
{
    int *memory, with = 7, back[4];
    void *arguments[] = {&memory, &with};
    cudaLaunchConfig_t config = {};
    CALL(cudaMalloc(&memory, sizeof back));
    config.gridDim = 1;
    config.blockDim = 4;
    CALL(cudaLaunchKernelExC(&config, (const void *)fill, arguments));
    CALL(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 7 && back[3] == 7);
    CALL(cudaFree(memory));
}

struct Mixed {
    char small;
    double large;
};
__global__ void several(char, Mixed, short, int *) {}

static void parameters()
{
    const void *func = (const void *)several;
    const size_t offsets[] = {0, 8, 24, 32}, sizes[] = {1, 16, 2, 8};
    size_t count = 0, offset, size;
    CALL(cudaFuncGetParamCount(func, &count));
    CHECK(count == 4);
    for (size_t index = 0; index < count; index++) {
        CALL(cudaFuncGetParamInfo(func, index, &offset, &size));
        CHECK(offset == offsets[index] && size == sizes[index]);
    }
    CALL(cudaFuncGetParamInfo(func, 3, &offset, nullptr));
    CHECK(cudaFuncGetParamInfo(func, 4, &offset, &size) == cudaErrorInvalidValue);
    CHECK(cudaFuncGetParamInfo(&count, 0, &offset, &size) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaFuncGetParamCount(func, nullptr) == cudaErrorInvalidValue);
}

int main()
{
    parameters();
    settings((const void *)fill);
    occupancy((const void *)fill);
    configured();
    printf("ok\n");
}
