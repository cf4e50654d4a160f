/* Graphs made by hand, and what of them can be changed before and after they are instantiated. */
#include "check.h"

#include <cstdint>

#define CALL(call) CHECK((call) == cudaSuccess)

enum { COUNT = 4 };

__global__ void add(int *to, int by) { to[threadIdx.x] += by; }

static int called;

static void count(void *by) { called += *static_cast<int *>(by); }

static cudaKernelNodeParams adding(void **arguments)
{
    cudaKernelNodeParams params = {};
    params.func = (void *)add;
    params.gridDim = 1;
    params.blockDim = COUNT;
    params.kernelParams = arguments;
    return params;
}

static cudaMemcpy3DParms copying(void *to, void *from)
{
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(from, sizeof(int) * COUNT, COUNT, 1);
    copy.dstPtr = make_cudaPitchedPtr(to, sizeof(int) * COUNT, COUNT, 1);
    copy.extent = make_cudaExtent(sizeof(int) * COUNT, 1, 1);
    copy.kind = cudaMemcpyDefault;
    return copy;
}

static void by_hand(cudaStream_t stream)
{
    int *memory, one = 1, ten = 10, back[COUNT], other[COUNT];
    CALL(cudaMalloc(&memory, sizeof back));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t clear, kernel, copy, host, before[1];
    size_t known = 1;
    void *by_one[] = {&memory, &one}, *by_ten[] = {&memory, &ten};
    cudaKernelNodeParams params = adding(by_one);
    cudaMemsetParams zeros = {memory, 0, 0, sizeof(int), COUNT, 1}, fives = {memory, 0, 5, sizeof(int), COUNT, 1};
    cudaMemcpy3DParms out = copying(back, memory);
    cudaHostNodeParams call = {count, &one}, call_more = {count, &ten};

    CALL(cudaGraphCreate(&graph, 0));
    CALL(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zeros));
    CALL(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &params));
    CALL(cudaGraphAddMemcpyNode(&copy, graph, &kernel, 1, &out));
    CALL(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    CALL(cudaGraphNodeGetDependencies(copy, before, &known));
    CHECK(known == 1 && before[0] == kernel);
    params = adding(by_ten);
    CALL(cudaGraphKernelNodeSetParams(kernel, &params));
    CALL(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CALL(cudaGraphUpload(executable, stream));
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(back[0] == 10 && back[COUNT - 1] == 10 && called == 1);

    /* An executable is changed without being instantiated anew; its graph stays as it was. */
    cudaMemcpy3DParms elsewhere = copying(other, memory);
    CALL(cudaGraphExecMemsetNodeSetParams(executable, clear, &fives));
    CALL(cudaGraphExecMemcpyNodeSetParams(executable, copy, &elsewhere));
    CALL(cudaGraphExecHostNodeSetParams(executable, host, &call_more));
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(other[0] == 15 && back[0] == 10 && called == 11);
    CALL(cudaGraphExecMemcpyNodeSetParams1D(executable, copy, back, memory, sizeof back, cudaMemcpyDeviceToHost));
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(back[0] == 15);
    CALL(cudaGraphExecDestroy(executable));
    CALL(cudaGraphDestroy(graph));
    CALL(cudaFree(memory));
}

static void captured(cudaStream_t stream)
{
    cudaStreamCaptureStatus status;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
    cudaGraph_t graph;
    CALL(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CALL(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    CALL(cudaStreamEndCapture(stream, &graph));
    CALL(cudaGraphDestroy(graph));
}

/* What nodes that allocate have taken; marks of the highest can be set to 0. */
static void memory()
{
    uint64_t high = 0;
    CALL(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
    CALL(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
    CHECK(high == 0);
}

int main()
{
    cudaStream_t stream;
    CALL(cudaStreamCreate(&stream));
    by_hand(stream);
    captured(stream);
    memory();
    CALL(cudaStreamDestroy(stream));
    printf("ok\n");
}
