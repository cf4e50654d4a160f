/* The driver's way of launching, in C. argv: a module, something else. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

static void check(int line, CUresult error)
{
    if (error == CUDA_SUCCESS) { return; }
    const char *name = "?";
    cuGetErrorName(error, &name);
    printf("line %d: %s\n", line, name);
    exit(3);
}
#define CHECK(call) check(__LINE__, call)

static const char *name_of(CUresult error)
{
    const char *name = "?";
    cuGetErrorName(error, &name);
    return name;
}

/* A kilobyte a thread: a block of 160 has as much as there is. */
static size_t shared_of(int threads)
{
    return (size_t)threads << 10;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context, popped;
    CUmodule module, other;
    CUfunction fill, none;
    CUdeviceptr out, counter, factors;
    size_t bytes, four;
    float values[8];
    int seven = 7, most = 0;
    double three = 3;
    (void)argc;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    printf("%s\n", name_of(cuModuleLoad(&module, argv[1])));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&fill, module, "fill"));
    CHECK(cuMemAlloc(&out, sizeof values));
    char first = 2;
    double second = 0.5;
    short third = -3;
    int count = 8;
    void *params[] = {&first, &second, &out, &third, &count};
    CHECK(cuLaunchKernel(fill, 2, 1, 1, 4, 1, 1, 0, NULL, params, NULL));
    CHECK(cuMemcpyDtoH(values, out, sizeof values));
    for (int i = 0; i < 8; i++) { printf("%g ", values[i]); }
    CHECK(cuModuleGetGlobal(&counter, &four, module, "counter"));
    CHECK(cuModuleGetGlobal(&factors, &bytes, module, "factors"));
    printf("\n%zu %zu\n", four, bytes);
    CHECK(cuMemcpyHtoD(counter, &seven, sizeof seven));
    CHECK(cuMemcpyHtoD(factors + sizeof three, &three, sizeof three)); /* static: only the host writes it */
    struct {
        char first;
        double second;
        CUdeviceptr out;
        short third;
        int count;
    } all = {1, 1.5, out, 4, 8};
    size_t size = sizeof all;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(fill, 1, 1, 1, 8, 1, 1, 0, NULL, NULL, extra));
    CHECK(cuMemcpyDtoH(values, out, sizeof values));
    for (int i = 0; i < 8; i++) { printf("%g ", values[i]); }
    CHECK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, fill));
    printf("\n%d\n", most);
    printf("%s\n", name_of(cuLaunchKernel(fill, 1, 1, 1, 2048, 1, 1, 0, NULL, params, NULL)));
    printf("%s\n", name_of(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)));
    printf("%s\n", name_of(cuLaunchKernel((CUfunction)&seven, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL)));
    size = 8;
    printf("%s\n", name_of(cuLaunchKernel(fill, 1, 1, 1, 8, 1, 1, 0, NULL, NULL, extra)));
    printf("%s\n", name_of(cuModuleGetFunction(&none, module, "nothing")));
    CHECK(cuModuleGetFunction(&none, module, "_Z7genericIiEvPT_"));
    printf("%s\n", name_of(cuModuleLoad(&other, argv[2])));
    printf("%s\n", name_of(cuModuleLoadData(&other, "//\n.version 8.0\n.target sm_80\n          ")));
    printf("%s\n", name_of(cuModuleLoadData(&other, "\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0")));
    for (int i = 0; i < 50; i++) { /* nothing of one is left in the next */
        CHECK(cuModuleLoad(&other, argv[1]));
        CHECK(cuModuleGetGlobal(&counter, NULL, other, "counter"));
        int found = 0;
        CHECK(cuMemcpyDtoH(&found, counter, sizeof found));
        if (found != 5) { printf("a module begins with %d\n", found); }
        CHECK(cuMemcpyHtoD(counter, &i, sizeof i));
        CHECK(cuModuleUnload(other));
    }
    int blocks = -1, threads = -1;
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
    printf("%d", blocks);
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, (size_t)1 << 20));
    printf(" %d", blocks);
    CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, fill, shared_of, 0, 0));
    printf(" %d %d", blocks > 0, threads);
    CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, fill, NULL, 0, 100));
    printf(" %d %s\n", threads, name_of(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 0, 0)));
    CHECK(cuModuleUnload(module));
    printf("%s\n", name_of(cuModuleUnload(module)));
    CHECK(cuCtxPopCurrent(&popped));
    printf("%d\n", popped == context);
    CHECK(cuCtxDestroy(context));
    return 0;
}
