/* What nodes of graphs were given, captured or made by hand, and changes of it. */
#include "check.h"

#include <cuda.h>

#include <cstring>

#define CALL(call) CHECK((call) == cudaSuccess)

enum { COUNT = 4, SIZE = COUNT * sizeof(int) };

__global__ void add(int *to, int by) { to[threadIdx.x] += by; }
__global__ void put(int *to, int with) { to[threadIdx.x] = with; }

static int called;

static void count(void *by) { called += *static_cast<int *>(by); }

static void run(cudaGraphExec_t executable, cudaStream_t stream)
{
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
}

static cudaGraphNode_t of_kind(cudaGraph_t graph, cudaGraphNodeType wanted)
{
    cudaGraphNode_t nodes[8];
    size_t known = 8;
    CALL(cudaGraphGetNodes(graph, nodes, &known));
    for (size_t i = 0; i < known; i++) {
        cudaGraphNodeType type;
        CALL(cudaGraphNodeGetType(nodes[i], &type));
        if (type == wanted)
            return nodes[i];
    }
    CHECK(!"there is none");
    return nullptr;
}

/* A capture is looked at and changed: the usual way to give a kernel other arguments. */
static void captured(cudaStream_t stream)
{
    int *memory, one = 1, ten = 10, back[COUNT];
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CALL(cudaMalloc(&memory, SIZE));
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CALL(cudaMemsetAsync(memory, 0, SIZE, stream));
    add<<<1, COUNT, 0, stream>>>(memory, 1);
    CALL(cudaMemcpyAsync(back, memory, SIZE, cudaMemcpyDeviceToHost, stream));
    CALL(cudaLaunchHostFunc(stream, count, &one));
    CALL(cudaStreamEndCapture(stream, &graph));
    CALL(cudaGraphInstantiate(&executable, graph, 0));

    cudaGraphNode_t kernel = of_kind(graph, cudaGraphNodeTypeKernel);
    cudaKernelNodeParams launched;
    CALL(cudaGraphKernelNodeGetParams(kernel, &launched));
    CHECK(launched.func == (void *)add && launched.blockDim.x == COUNT && launched.gridDim.x == 1);
    CHECK(*static_cast<int **>(launched.kernelParams[0]) == memory && *static_cast<int *>(launched.kernelParams[1]) == 1);
    void *arguments[] = {launched.kernelParams[0], &ten};
    launched.kernelParams = arguments;
    CALL(cudaGraphExecKernelNodeSetParams(executable, kernel, &launched));
    run(executable, stream);
    CHECK(back[0] == 10 && back[COUNT - 1] == 10 && called == 1);

    cudaGraphNode_t clear = of_kind(graph, cudaGraphNodeTypeMemset), copy = of_kind(graph, cudaGraphNodeTypeMemcpy);
    cudaGraphNode_t host = of_kind(graph, cudaGraphNodeTypeHost);
    cudaMemsetParams filled;
    cudaMemcpy3DParms copied;
    cudaHostNodeParams calls;
    CALL(cudaGraphMemsetNodeGetParams(clear, &filled));
    CHECK(filled.dst == memory && filled.value == 0 && filled.width * filled.elementSize == SIZE);
    CALL(cudaGraphMemcpyNodeGetParams(copy, &copied));
    CHECK(copied.dstPtr.ptr == back && copied.srcPtr.ptr == memory && copied.extent.width == SIZE);
    CHECK(copied.kind == cudaMemcpyDeviceToHost);
    CALL(cudaGraphHostNodeGetParams(host, &calls));
    CHECK(calls.fn == count && calls.userData == &one);

    /* The graph itself, and an executable after it. */
    filled.value = 1;
    filled.elementSize = sizeof(int);
    filled.width = COUNT;
    calls.userData = &ten;
    CALL(cudaGraphMemsetNodeSetParams(clear, &filled));
    CALL(cudaGraphMemcpyNodeSetParams(copy, &copied));
    CALL(cudaGraphMemcpyNodeSetParams1D(copy, back, memory, SIZE, cudaMemcpyDeviceToHost));
    CALL(cudaGraphHostNodeSetParams(host, &calls));
    launched.func = (void *)put;
    CALL(cudaGraphKernelNodeSetParams(kernel, &launched));
    cudaGraphExecUpdateResultInfo info;
    CALL(cudaGraphExecUpdate(executable, graph, &info));
    run(executable, stream);
    CHECK(back[0] == 10 && called == 11);

    unsigned int enabled = 1;
    CALL(cudaGraphNodeSetEnabled(executable, kernel, 0));
    CALL(cudaGraphNodeGetEnabled(executable, kernel, &enabled));
    CHECK(enabled == 0);
    run(executable, stream);
    CHECK(back[0] == 1);
    CHECK(cudaGraphNodeSetEnabled(executable, host, 0) == cudaErrorInvalidValue);
    CALL(cudaGraphExecDestroy(executable));
    CALL(cudaGraphDestroy(graph));
    CALL(cudaFree(memory));
}

static cudaGraphNodeParams putting(void **arguments)
{
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)put;
    params.kernel.gridDim = 1;
    params.kernel.blockDim = COUNT;
    params.kernel.kernelParams = arguments;
    return params;
}

static void of_any_kind(cudaStream_t stream)
{
    int *memory, two = 2, three = 3, back[COUNT];
    CALL(cudaMalloc(&memory, SIZE));
    void *with_two[] = {&memory, &two}, *with_three[] = {&memory, &three};
    cudaGraph_t graph, inner, child;
    cudaGraphExec_t executable;
    cudaGraphNode_t kernel, nested, copy;
    CALL(cudaGraphCreate(&graph, 0));
    CALL(cudaGraphCreate(&inner, 0));
    cudaGraphNodeParams params = putting(with_two);
    CALL(cudaGraphAddNode(&kernel, inner, nullptr, 0, &params));
    params = {};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = inner;
    params.graph.ownership = cudaGraphChildGraphOwnershipMove; /* `inner` is part of `graph` from now on */
    CALL(cudaGraphAddNode(&nested, graph, nullptr, 0, &params));
    CALL(cudaGraphChildGraphNodeGetGraph(nested, &child));
    CHECK(child == inner);
    CALL(cudaGraphAddMemcpyNode1D(&copy, graph, &nested, 1, back, memory, SIZE, cudaMemcpyDeviceToHost));
    CALL(cudaGraphInstantiate(&executable, graph, 0));
    run(executable, stream);
    CHECK(back[0] == 2);
    params = putting(with_three);
    CALL(cudaGraphNodeSetParams(kernel, &params));
    CALL(cudaGraphExecChildGraphNodeSetParams(executable, nested, inner));
    run(executable, stream);
    CHECK(back[0] == 3);
    params = putting(with_two);
    CALL(cudaGraphExecNodeSetParams(executable, kernel, &params));
    run(executable, stream);
    CHECK(back[0] == 2);
    params.type = cudaGraphNodeTypeEmpty;
    CHECK(cudaGraphNodeSetParams(kernel, &params) == cudaErrorNotSupported);
    CALL(cudaGraphExecDestroy(executable));
    CALL(cudaGraphDestroy(graph));
    CALL(cudaFree(memory));
}

static void events(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t record, wait;
    cudaEvent_t first, second, found;
    CALL(cudaEventCreate(&first));
    CALL(cudaEventCreate(&second));
    /* As external ones the events become nodes of the capture. */
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CALL(cudaEventRecordWithFlags(first, stream, cudaEventRecordExternal));
    CALL(cudaStreamWaitEvent(stream, first, cudaEventWaitExternal));
    CALL(cudaStreamEndCapture(stream, &graph));
    record = of_kind(graph, cudaGraphNodeTypeEventRecord);
    wait = of_kind(graph, cudaGraphNodeTypeWaitEvent);
    CALL(cudaGraphEventRecordNodeGetEvent(record, &found));
    CHECK(found == first);
    CALL(cudaGraphEventRecordNodeSetEvent(record, second));
    CALL(cudaGraphEventWaitNodeSetEvent(wait, second));
    CALL(cudaGraphEventWaitNodeGetEvent(wait, &found));
    CHECK(found == second);
    CALL(cudaGraphInstantiate(&executable, graph, 0));
    CALL(cudaGraphExecEventRecordNodeSetEvent(executable, record, first));
    CALL(cudaGraphExecEventWaitNodeSetEvent(executable, wait, first));
    run(executable, stream);
    CALL(cudaEventSynchronize(first));
    CALL(cudaGraphExecDestroy(executable));
    CALL(cudaGraphDestroy(graph));
    CALL(cudaEventDestroy(first));
    CALL(cudaEventDestroy(second));
}

static void memory(cudaStream_t stream)
{
    cudaGraph_t graph;
    void *taken, *freed;
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CALL(cudaMallocAsync(&taken, SIZE, stream));
    CALL(cudaFreeAsync(taken, stream));
    CALL(cudaStreamEndCapture(stream, &graph));
    cudaMemAllocNodeParams told;
    CALL(cudaGraphMemAllocNodeGetParams(of_kind(graph, cudaGraphNodeTypeMemAlloc), &told));
    CHECK(told.dptr == taken && told.bytesize == SIZE);
    CALL(cudaGraphMemFreeNodeGetParams(of_kind(graph, cudaGraphNodeTypeMemFree), &freed));
    CHECK(freed == taken);
    CALL(cudaGraphDestroy(graph));
}

/* Handles of both interfaces are the same objects. */
static void by_both(cudaStream_t stream)
{
    int *memory, five = 5, back[COUNT];
    CALL(cudaMalloc(&memory, SIZE));
    void *with_five[] = {&memory, &five};
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t kernel, copy;
    CALL(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params = putting(with_five);
    CALL(cudaGraphAddNode(&kernel, graph, nullptr, 0, &params));
    CUDA_MEMCPY3D out = {};
    out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    out.srcDevice = (CUdeviceptr)memory;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = back;
    out.WidthInBytes = SIZE;
    out.Height = out.Depth = 1;
    CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &out, nullptr) == CUDA_SUCCESS);
    cudaMemcpy3DParms copied;
    CALL(cudaGraphMemcpyNodeGetParams(copy, &copied));
    CHECK(copied.kind == cudaMemcpyDeviceToHost && copied.dstPtr.ptr == back && copied.extent.width == SIZE);
    CALL(cudaGraphMemcpyNodeSetParams(copy, &copied));
    CHECK(cuGraphMemcpyNodeGetParams(copy, &out) == CUDA_SUCCESS);
    CHECK(out.dstMemoryType == CU_MEMORYTYPE_HOST && out.dstHost == back && out.srcDevice == (CUdeviceptr)memory);
    CUDA_KERNEL_NODE_PARAMS launched;
    CHECK(cuGraphKernelNodeGetParams(kernel, &launched) == CUDA_SUCCESS);
    CHECK(launched.blockDimX == COUNT && *(int *)launched.kernelParams[1] == 5);
    CALL(cudaGraphInstantiate(&executable, graph, 0));
    run(executable, stream);
    CHECK(back[0] == 5 && back[COUNT - 1] == 5);
    CALL(cudaGraphExecDestroy(executable));
    CALL(cudaGraphDestroy(graph));
    CALL(cudaFree(memory));
}

static void attributes()
{
    int *memory = nullptr, one = 1;
    void *arguments[] = {&memory, &one};
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    CALL(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params = putting(arguments);
    CALL(cudaGraphAddNode(&first, graph, nullptr, 0, &params));
    CALL(cudaGraphAddNode(&second, graph, nullptr, 0, &params));
    cudaLaunchAttributeValue value = {};
    value.priority = -1;
    CALL(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributePriority, &value));
    CALL(cudaGraphKernelNodeCopyAttributes(second, first));
    value = {};
    CALL(cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributePriority, &value));
    CHECK(value.priority == -1);
    CALL(cudaGraphDestroy(graph));
}

int main()
{
    cudaStream_t stream;
    CALL(cudaStreamCreate(&stream));
    captured(stream);
    of_any_kind(stream);
    events(stream);
    memory(stream);
    by_both(stream);
    attributes();
    CALL(cudaStreamDestroy(stream));
    printf("ok\n");
}
