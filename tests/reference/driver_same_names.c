/* Modules of one process whose kernels, variables and templates have the same names, and one behind
 * another's end. */
#include <cuda.h>
#include <nvrtc.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

static CUmodule holding(int value)
{
    char source[300];
    nvrtcProgram program;
    CUmodule module;
    size_t size;
    char *image;
    snprintf(source, sizeof source,
             "__device__ int value = %d;\n"
             "template <int N> __device__ int kept() { static int once = %d; return once * N; }\n"
             "extern \"C\" __global__ void tell(int *to) { *to = value + kept<100>(); }\n",
             value, value);
    NVRTC(nvrtcCreateProgram(&program, source, NULL, 0, NULL, NULL));
    NVRTC(nvrtcCompileProgram(program, 0, NULL));
    NVRTC(nvrtcGetCUBINSize(program, &size));
    image = malloc(size);
    NVRTC(nvrtcGetCUBIN(program, image));
    NVRTC(nvrtcDestroyProgram(&program));
    CALL(cuModuleLoadData(&module, image));
    free(image);
    return module;
}

static int told(CUmodule module)
{
    CUfunction tell;
    CUdeviceptr memory;
    int value = 0;
    void *arguments[] = {&memory};
    CALL(cuMemAlloc(&memory, sizeof value));
    CALL(cuModuleGetFunction(&tell, module, "tell"));
    CALL(cuLaunchKernel(tell, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CALL(cuMemcpyDtoH(&value, memory, sizeof value));
    CALL(cuMemFree(memory));
    return value;
}

int main(void)
{
    CUcontext context;
    CUmodule one, two, three;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    one = holding(1);
    two = holding(2);
    CHECK(told(one) == 101);
    CHECK(told(two) == 202);
    CALL(cuModuleUnload(one));
    three = holding(3);
    CHECK(told(three) == 303);
    CHECK(told(two) == 202);
    CALL(cuModuleUnload(two));
    CALL(cuModuleUnload(three));
    printf("ok\n");
    return 0;
}
