/* Names in CUDA C++ that is compiled while the program runs: a kernel that is called as a function of libc, variables
 * that only device code changes, what NVRTC knows without headers; and a graph that takes another's condition. */
#include <cuda.h>
#include <nvrtc.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL(call)                                                       \
    do {                                                                 \
        int error_ = (int)(call);                                        \
        if (error_) {                                                    \
            printf("%s: %d\n", #call, error_);                           \
            exit(1);                                                     \
        }                                                                \
    } while (0)

static const char source[] =
    "extern \"C\" __device__ __cudart_builtin__ void CUDARTAPI\n"
    "cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);\n"
    "static __device__ bool isDone;\n"
    "__device__ static int unused[3] = {4, 5, 6};\n"
    "extern \"C\" __global__ void wait(int *x) { *x += 1; }\n"
    "extern \"C\" __global__ void mark() { isDone = true; }\n"
    "extern \"C\" __global__ void choose(cudaGraphConditionalHandle handle, int value) {\n"
    "    cudaGraphSetConditional(handle, value);\n"
    "}\n";

static CUfunction kernel(CUmodule module, const char *name)
{
    CUfunction found;
    CALL(cuModuleGetFunction(&found, module, name));
    return found;
}

/* A graph that adds 1 where its condition, which begins as `value`, is true. */
static CUgraph conditional(CUcontext context, CUfunction add, CUdeviceptr to, unsigned value)
{
    CUgraph graph;
    CUgraphConditionalHandle handle;
    CUgraphNode node, inner;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUDA_KERNEL_NODE_PARAMS launch = {.func = add, 1, 1, 1, 1, 1, 1};
    void *arguments[] = {&to};
    launch.kernelParams = arguments;
    CALL(cuGraphCreate(&graph, 0));
    CALL(cuGraphConditionalHandleCreate(&handle, graph, context, value, CU_GRAPH_COND_ASSIGN_DEFAULT));
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CALL(cuGraphAddNode(&node, graph, NULL, 0, &params));
    CALL(cuGraphAddKernelNode(&inner, params.conditional.phGraph_out[0], NULL, 0, &launch));
    return graph;
}

int main(void)
{
    const char *options[] = {"--std=c++17", "--no-display-error-number", "--device-int128",
                             "--builtin-initializer-list=false"};
    nvrtcProgram program;
    CUcontext context;
    CUmodule module;
    CUdeviceptr x, variable;
    size_t size;
    bool done = false;
    int value = 5, others[3];
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(nvrtcCreateProgram(&program, source, "names.cu", 0, NULL, NULL));
    CALL(nvrtcCompileProgram(program, 4, options));
    CALL(nvrtcGetCUBINSize(program, &size));
    char *code = malloc(size);
    CALL(nvrtcGetCUBIN(program, code));
    CALL(cuModuleLoadData(&module, code));
    free(code);
    CALL(cuMemAlloc(&x, sizeof value));
    CALL(cuMemcpyHtoD(x, &value, sizeof value));
    void *arguments[] = {&x};
    CALL(cuLaunchKernel(kernel(module, "wait"), 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CALL(cuLaunchKernel(kernel(module, "mark"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CALL(cuMemcpyDtoH(&value, x, sizeof value));
    CALL(cuModuleGetGlobal(&variable, &size, module, "isDone"));
    CALL(cuMemcpyDtoH(&done, variable, size));
    CALL(cuModuleGetGlobal(&variable, &size, module, "unused"));
    CALL(cuMemcpyDtoH(others, variable, size));
    printf("%d %d %d %d\n", value, done, others[0], others[2]);

    CUgraph no = conditional(context, kernel(module, "wait"), x, 0);
    CUgraph yes = conditional(context, kernel(module, "wait"), x, 1);
    CUgraphExec ready;
    CUgraphExecUpdateResultInfo told;
    for (int round = 0; round < 2; round++) {
        if (round)
            CALL(cuGraphExecUpdate(ready, yes, &told));
        else
            CALL(cuGraphInstantiate(&ready, no, 0));
        CALL(cuGraphLaunch(ready, NULL));
        CALL(cuMemcpyDtoH(&value, x, sizeof value));
        printf("%d\n", value);
    }
    return 0;
}
