/* Code that is compiled while the program runs: made by NVRTC, linked and launched by the driver. */
#include <cuda.h>
#include <nvrtc.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

enum { BLOCKS = 2, THREADS = 32 };

static const char source[] =
    "#include <cooperative_groups.h>\n"
    "__device__ int sum;\n"
    "extern \"C\" __global__ void add(int *seen)\n"
    "{\n"
    "    extern __shared__ int scratch[];\n"
    "    scratch[threadIdx.x] = 1;\n"
    "    atomicAdd(&sum, scratch[threadIdx.x]);\n"
    "    cooperative_groups::this_grid().sync();\n"
    "    seen[blockIdx.x * blockDim.x + threadIdx.x] = sum;\n"
    "}\n";

static char *compiled(size_t *size)
{
    const char *options[] = {"--gpu-architecture=sm_87"};
    nvrtcProgram program;
    char *image;
    int major, minor, count, architectures[64], known = 0;
    NVRTC(nvrtcVersion(&major, &minor));
    CHECK(major >= 11);
    NVRTC(nvrtcGetNumSupportedArchs(&count));
    CHECK(0 < count && count <= 64);
    NVRTC(nvrtcGetSupportedArchs(architectures));
    for (int i = 0; i < count; i++)
        known |= architectures[i] == 87;
    CHECK(known);
    NVRTC(nvrtcCreateProgram(&program, source, "add.cu", 0, NULL, NULL));
    NVRTC(nvrtcCompileProgram(program, 1, options));
    NVRTC(nvrtcGetCUBINSize(program, size));
    image = malloc(*size);
    NVRTC(nvrtcGetCUBIN(program, image));
    NVRTC(nvrtcDestroyProgram(&program));
    return image;
}

/* The image that a link of one image makes; it belongs to the link. */
static void *linked(CUlinkState *state, char *image, size_t size)
{
    void *made;
    size_t made_size;
    CALL(cuLinkCreate(0, NULL, NULL, state));
    CHECK(cuLinkAddFile(*state, CU_JIT_INPUT_CUBIN, "none.cubin", 0, NULL, NULL)
          == CUDA_ERROR_FILE_NOT_FOUND);
    CALL(cuLinkAddData(*state, CU_JIT_INPUT_CUBIN, image, size, "add", 0, NULL, NULL));
    CALL(cuLinkComplete(*state, &made, &made_size));
    CHECK(made_size > 0);
    return made;
}

static void launches(CUmodule module)
{
    CUfunction add;
    CUdeviceptr seen, sum;
    size_t bytes;
    int blocks, threads, back[BLOCKS * THREADS];
    CALL(cuModuleGetFunction(&add, module, "add"));
    CALL(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
    CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, add, THREADS, 1024, 0));
    CHECK(blocks >= 1);
    CALL(cuOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads, add, NULL, 0, 256, 0));
    CHECK(0 < threads && threads <= 256);
    CALL(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, add, 1, THREADS));
    CHECK(bytes >= 48 << 10);
    CALL(cuModuleGetGlobal(&sum, &bytes, module, "sum"));
    CHECK(bytes == sizeof(int));
    CALL(cuMemsetD32(sum, 100, 1));
    CALL(cuMemAlloc(&seen, sizeof back));
    void *arguments[] = {&seen};
    CALL(cuLaunchCooperativeKernel(add, BLOCKS, 1, 1, THREADS, 1, 1, THREADS * sizeof(int), NULL,
                                   arguments));
    CALL(cuMemcpyDtoH(back, seen, sizeof back));
    for (int i = 0; i < BLOCKS * THREADS; i++)
        CHECK(back[i] == 100 + BLOCKS * THREADS);
    CALL(cuMemFree(seen));
}

/* A thread without a context launches nothing. */
static void nowhere(CUmodule module)
{
    CUfunction function;
    CUcontext context;
    unsigned int count = 1;
    CALL(cuModuleEnumerateFunctions(&function, count, module));
    CALL(cuCtxPopCurrent(&context));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_ERROR_INVALID_CONTEXT);
    CALL(cuCtxPushCurrent(context));
}

int main(void)
{
    size_t size;
    char *image = compiled(&size);
    CUcontext context;
    CUlinkState link;
    CUmodule module;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuModuleLoadData(&module, linked(&link, image, size)));
    CALL(cuLinkDestroy(link));
    launches(module);
    nowhere(module);
    CALL(cuModuleUnload(module));
    CALL(cuModuleLoadFatBinary(&module, image));
    CALL(cuModuleUnload(module));
    free(image);
    printf("ok\n");
    return 0;
}
