/* Kernels of a library: found, asked about, launched with attributes, and as CUDA 3 launched them. */
#include <cuda.h>
#include <nvrtc.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

enum { THREADS = 8 };

static const char source[] =
    "extern \"C\" {\n"
    "__device__ int base = 100;\n"
    "__global__ void add(int *out, int by) { out[threadIdx.x] = base + by + threadIdx.x; }\n"
    "__global__ void scale(int *out, float by) { out[threadIdx.x] *= by; }\n"
    "}\n";

/* A fat binary with code for a GPU only, which a driver refuses when something of it is needed. */
static void other_code(void)
{
    struct {
        uint32_t magic;
        uint16_t version, head;
        uint64_t size;
        uint16_t kind, entry_version;
        uint32_t entry_head;
        uint64_t entry_size;
        uint64_t rest[6];
        char code[8];
    } fat = {0xBA55ED50, 1, 16, 72, 2, 0x101, 64, 8, {0, 80ull << 32}, "\x7f" "ELF"};
    CUlibrary library;
    CUkernel kernel;
    CUmodule module;
    CHECK(cuModuleLoadData(&module, &fat) == CUDA_ERROR_NO_BINARY_FOR_GPU);
    CALL(cuLibraryLoadData(&library, &fat, NULL, NULL, 0, NULL, NULL, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cuLibraryGetKernel(&kernel, library, "add") == CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    CALL(cuLibraryUnload(library));
    CHECK(cuLibraryLoadData(&library, "what is this?...", NULL, NULL, 0, NULL, NULL, 0) == CUDA_ERROR_INVALID_IMAGE);
}

static char *compiled(void)
{
    nvrtcProgram program;
    size_t size;
    char *image;
    NVRTC(nvrtcCreateProgram(&program, source, NULL, 0, NULL, NULL));
    NVRTC(nvrtcCompileProgram(program, 0, NULL));
    NVRTC(nvrtcGetCUBINSize(program, &size));
    image = malloc(size);
    NVRTC(nvrtcGetCUBIN(program, image));
    NVRTC(nvrtcDestroyProgram(&program));
    return image;
}

static void asked(CUlibrary library, CUkernel kernel)
{
    CUmodule module, of;
    CUfunction function, functions[2];
    CUfunctionLoadingState state;
    CUmoduleLoadingMode mode;
    CUkernel kernels[2];
    CUlibrary owner;
    const char *name;
    unsigned int count;
    int value;
    CALL(cuLibraryGetKernelCount(&count, library));
    CHECK(count == 2);
    CALL(cuLibraryEnumerateKernels(kernels, 2, library));
    CHECK(kernels[0] == kernel || kernels[1] == kernel);
    CALL(cuKernelGetLibrary(&owner, kernel));
    CHECK(owner == library);
    CALL(cuKernelGetName(&name, kernel));
    CHECK(strcmp(name, "add") == 0);
    CALL(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0));
    CALL(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kernel, 0));
    CALL(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
    CHECK(value == 1024);
    CALL(cuLibraryGetModule(&module, library));
    CALL(cuModuleGetLoadingMode(&mode));
    CHECK(mode == CU_MODULE_EAGER_LOADING);
    CALL(cuModuleGetFunctionCount(&count, module));
    CHECK(count == 2);
    CALL(cuModuleEnumerateFunctions(functions, 2, module));
    CALL(cuKernelGetFunction(&function, kernel));
    CHECK(functions[0] == function || functions[1] == function);
    CALL(cuFuncGetModule(&of, function));
    CHECK(of == module);
    CALL(cuFuncGetName(&name, function));
    CHECK(strcmp(name, "add") == 0);
    CALL(cuFuncLoad(function));
    CALL(cuFuncIsLoaded(&state, function));
    CHECK(state == CU_FUNCTION_LOADING_STATE_LOADED);
    CALL(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_SHARED));
    CALL(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
}

static void launched(CUfunction add, CUdeviceptr out)
{
    int by = 5;
    void *arguments[] = {&out, &by};
    CUlaunchAttribute cooperative;
    CUlaunchConfig config;
    memset(&cooperative, 0, sizeof cooperative);
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
    memset(&config, 0, sizeof config);
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = THREADS;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = &cooperative;
    config.numAttrs = 1;
    CALL(cuLaunchKernelEx(&config, add, arguments, NULL));
}

/* Arguments at the places that they have in a structure. */
static void in_pieces(CUfunction add, CUfunction scale, CUdeviceptr out)
{
    CALL(cuFuncSetBlockShape(add, THREADS, 1, 1));
    CALL(cuFuncSetSharedSize(add, 0));
    CALL(cuParamSetv(add, 0, &out, sizeof out));
    CALL(cuParamSeti(add, sizeof out, 1));
    CALL(cuParamSetSize(add, sizeof out + 4));
    CALL(cuLaunch(add));
    CALL(cuLaunchGrid(add, 1, 1));
    CALL(cuFuncSetBlockShape(scale, THREADS, 1, 1));
    CALL(cuParamSetv(scale, 0, &out, sizeof out));
    CALL(cuParamSetf(scale, sizeof out, 2.0f));
    CALL(cuParamSetSize(scale, sizeof out + 4));
    CALL(cuLaunchGridAsync(scale, 1, 1, NULL));
}

int main(void)
{
    CUcontext context;
    CUlibrary library;
    CUkernel add, scale;
    CUdeviceptr out, base;
    size_t bytes;
    int back[THREADS];
    char *image = compiled();

    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    other_code();
    CHECK(cuLibraryLoadFromFile(&library, "none.cubin", NULL, NULL, 0, NULL, NULL, 0)
          == CUDA_ERROR_FILE_NOT_FOUND);
    CALL(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cuLibraryGetKernel(&add, library, "add"));
    CALL(cuLibraryGetKernel(&scale, library, "scale"));
    asked(library, add);
    CALL(cuLibraryGetGlobal(&base, &bytes, library, "base"));
    CHECK(bytes == sizeof(int));
    CALL(cuMemAlloc(&out, sizeof back));
    launched((CUfunction)add, out);
    CALL(cuMemcpyDtoH(back, out, sizeof back));
    for (int i = 0; i < THREADS; i++)
        CHECK(back[i] == 105 + i);
    in_pieces((CUfunction)add, (CUfunction)scale, out);
    CALL(cuMemcpyDtoH(back, out, sizeof back));
    for (int i = 0; i < THREADS; i++)
        CHECK(back[i] == 2 * (101 + i));
    CALL(cuMemFree(out));
    CALL(cuLibraryUnload(library));
    free(image);
    printf("ok\n");
    return 0;
}
