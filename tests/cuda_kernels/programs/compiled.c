/* CUDA C++ that is compiled while the program runs, from C: kernels by name and by name expression, a header,
 * options, variables; then every refusal. */
#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "#include \"factor.h\"\n"
    "__constant__ float shift = 0.5f;\n"
    "template <class T> __global__ void scale(T *x, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) x[i] = x[i] * FACTOR * TIMES + (T)shift;\n"
    "}\n"
    "extern \"C\" __global__ void negate(float *x, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) x[i] = -x[i];\n"
    "}\n";

static void said(const char *what, nvrtcResult result)
{
    printf("%s: %s\n", what, nvrtcGetErrorString(result));
}

static void launch(CUmodule module, const char *name, CUdeviceptr x, int n)
{
    CUfunction kernel;
    void *arguments[] = {&x, &n};
    CUresult error = cuModuleGetFunction(&kernel, module, name);
    if (error == CUDA_SUCCESS)
        error = cuLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
    if (error != CUDA_SUCCESS)
        printf("launch: %d\n", (int)error);
}

int main(void)
{
    const char *texts[] = {"#define FACTOR 2\n"}, *names[] = {"factor.h"};
    const char *options[] = {"--gpu-architecture=compute_87", "-DTIMES=3", "--std=c++17", "-default-device"};
    const char *lowered, *again, *variable;
    float values[50];
    nvrtcProgram program, broken;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr memory, constant;
    size_t size;
    int n = 50;

    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    said("create", nvrtcCreateProgram(&program, source, "scale.cu", 1, texts, names));
    said("name", nvrtcAddNameExpression(program, "scale<float>"));
    said("name", nvrtcAddNameExpression(program, "&shift"));
    said("early", nvrtcGetLoweredName(program, "scale<float>", &lowered));
    said("early", nvrtcGetCUBINSize(program, &size));
    said("compile", nvrtcCompileProgram(program, 4, options));
    said("late", nvrtcAddNameExpression(program, "scale<int>"));
    said("lowered", nvrtcGetLoweredName(program, "scale<float>", &lowered));
    said("lowered", nvrtcGetLoweredName(program, "&shift", &variable));
    said("unknown", nvrtcGetLoweredName(program, "scale<int>", &again));
    size = 7;
    nvrtcGetLTOIRSize(program, &size);
    printf("for a linker %zu\n", size);
    nvrtcGetCUBINSize(program, &size);
    char *code = malloc(size);
    nvrtcGetCUBIN(program, code);
    said("destroy", nvrtcDestroyProgram(&program));
    printf("program %d, names %d\n", program == NULL, strstr(lowered, "scale") != NULL);

    cuModuleLoadDataEx(&module, code, 0, NULL, NULL);
    free(code);
    for (int i = 0; i < n; i++)
        values[i] = (float)i;
    cuMemAlloc(&memory, sizeof values);
    cuMemcpyHtoD(memory, values, sizeof values);
    cuModuleGetGlobal(&constant, &size, module, variable);
    float shift = 1;
    cuMemcpyHtoD(constant, &shift, size);
    launch(module, lowered, memory, n);
    launch(module, "negate", memory, n);
    cuMemcpyDtoH(values, memory, sizeof values);
    for (int i = 0; i < n; i++)
        printf("%g ", (double)values[i]);
    printf("\n");

    nvrtcCreateProgram(&broken, "__global__ void f() { wrong; }", "broken.cu", 0, NULL, NULL);
    said("broken", nvrtcCompileProgram(broken, 0, NULL));
    nvrtcGetProgramLogSize(broken, &size);
    char *log = malloc(size);
    nvrtcGetProgramLog(broken, log);
    printf("log %d %d\n", strlen(log) + 1 == size, strstr(log, "broken.cu:1") != NULL);
    free(log);
    said("code", nvrtcGetPTXSize(broken, &size));
    const char *unknown[] = {"--frobnicate"};
    said("option", nvrtcCompileProgram(broken, 1, unknown));
    said("destroy", nvrtcDestroyProgram(&broken));
    said("gone", nvrtcCompileProgram(program, 0, NULL));
    said("no source", nvrtcCreateProgram(&broken, NULL, NULL, 0, NULL, NULL));
    said("other", (nvrtcResult)99);
    return 0;
}
