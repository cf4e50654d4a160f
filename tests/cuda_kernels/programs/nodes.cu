// Nodes of graphs beyond kernels and copies: conditions, events, memory; updates of executables. Prints what
// the nodes computed; digits are appended in the order in which they ran.
#include <cstdio>
#include <cstdlib>

__global__ void append(unsigned *number, unsigned digit) { *number = *number * 10 + digit; }
__global__ void choose(cudaGraphConditionalHandle handle, unsigned value) { cudaGraphSetConditional(handle, value); }
__global__ void count_down(unsigned *left, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, --*left); }
__global__ void put(float *to, float value) { to[threadIdx.x] = value + threadIdx.x; }

static void check(int line, cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("line %d: %s\n", line, cudaGetErrorName(error));
    exit(3);
}
#define CHECK(call) check(__LINE__, call)

static unsigned *number;
static cudaStream_t stream;

template <class... A> static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void *function, A... given)
{
    cudaGraphNode_t node;
    void *arguments[] = {&given...};
    cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
    params.kernel.func = function;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = arguments;
    CHECK(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &params));
    return node;
}

static cudaGraphNode_t digit(cudaGraph_t graph, cudaGraphNode_t after, unsigned value)
{
    return kernel(graph, after, (void *)append, number, value);
}

static cudaGraphNode_t condition(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalHandle handle,
                                 cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t *bodies)
{
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    CHECK(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &params));
    for (unsigned i = 0; i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

static unsigned launched(cudaGraphExec_t ready)
{
    *number = 0;
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    return *number;
}

static void conditions()
{
    cudaGraph_t graph, bodies[3];
    cudaGraphExec_t ready;
    cudaGraphConditionalHandle handle, again, other;
    for (unsigned value = 0; value < 4; value++) {
        CHECK(cudaGraphCreate(&graph, 0));
        CHECK(cudaGraphConditionalHandleCreate(&handle, graph));
        CHECK(cudaGraphConditionalHandleCreate(&again, graph));
        CHECK(cudaGraphConditionalHandleCreate(&other, graph, 2, cudaGraphCondAssignDefault));
        cudaGraphNode_t set = kernel(graph, nullptr, (void *)choose, handle, value);
        set = kernel(graph, set, (void *)choose, again, value);
        cudaGraphNode_t test = condition(graph, set, handle, cudaGraphCondTypeIf, 2, bodies);
        digit(bodies[0], nullptr, 1);
        digit(bodies[1], nullptr, 2);
        test = condition(graph, digit(graph, test, 9), again, cudaGraphCondTypeSwitch, 3, bodies);
        for (unsigned i = 0; i < 3; i++)
            digit(bodies[i], nullptr, 4 + i);
        test = condition(graph, test, other, cudaGraphCondTypeWhile, 1, bodies); // until 7 made it 0
        unsigned *left;
        CHECK(cudaMallocManaged(&left, 4));
        *left = 3;
        digit(bodies[0], kernel(bodies[0], nullptr, (void *)count_down, left, other), 7);
        digit(graph, test, 8);
        CHECK(cudaGraphInstantiate(&ready, graph, 0));
        printf("%u ", launched(ready));
        *left = 1; // the default is there again
        printf("%u\n", launched(ready));
        cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
        params.conditional.handle = handle;
        params.conditional.size = 1;
        cudaGraphNode_t node;
        if (value == 0)
            printf("%s ", cudaGetErrorName(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params))); // taken
        params.conditional.handle = 0x1234;
        if (value == 0)
            printf("%s\n", cudaGetErrorName(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params)));
        CHECK(cudaGraphExecDestroy(ready));
        CHECK(cudaGraphDestroy(graph));
    }
}

static void into_a_capture()
{
    cudaGraph_t graph, body, found;
    cudaGraphExec_t ready;
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *after;
    size_t count;
    unsigned *left;
    CHECK(cudaMallocManaged(&left, 4));
    *left = 2;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, stream>>>(number, 1);
    CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, nullptr, &count));
    cudaGraphConditionalHandle handle;
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t node = condition(graph, after[0], handle, cudaGraphCondTypeWhile, 1, &body);
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
    append<<<1, 1, 0, stream>>>(number, 3);
    CHECK(cudaStreamEndCapture(stream, &found));
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, stream>>>(number, 2);
    count_down<<<1, 1, 0, stream>>>(left, handle);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    CHECK(cudaGraphInstantiate(&ready, found, 0));
    printf("%d %zu %d %u\n", status, count, found == graph, launched(ready));
}

static void edges()
{
    cudaGraph_t graph;
    cudaGraphNode_t from[4], to[4], one, two, three;
    size_t count = 4, roots = 4, behind = 4;
    CHECK(cudaGraphCreate(&graph, 0));
    one = digit(graph, nullptr, 1), two = digit(graph, one, 2), three = digit(graph, one, 3);
    CHECK(cudaGraphGetEdges(graph, from, to, &count));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(cudaGraphNodeGetDependentNodes(one, nullptr, &behind));
    printf("%zu %zu %zu %d\n", count, roots, behind, from[1] == one && to[1] == three);
    CHECK(cudaGraphRemoveDependencies(graph, &one, &two, 1));
    CHECK(cudaGraphDestroyNode(one));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    printf("%zu %s %s\n", roots, cudaGetErrorName(cudaGraphDestroyNode(one)),
           cudaGetErrorName(cudaGraphRemoveDependencies(graph, &two, &three, 1)));
}

static void updates()
{
    cudaGraph_t graph, other;
    cudaGraphExec_t ready;
    cudaGraphExecUpdateResultInfo info;
    cudaError_t error;
    cudaGraphNode_t last;
    CHECK(cudaGraphCreate(&graph, 0));
    digit(graph, digit(graph, nullptr, 1), 2);
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphCreate(&other, 0));
    last = digit(other, digit(other, nullptr, 3), 4);
    CHECK(cudaGraphExecUpdate(ready, other, &info));
    printf("%u %d ", launched(ready), info.result);
    digit(other, last, 5);
    error = cudaGraphExecUpdate(ready, other, &info);
    printf("%s %d ", cudaGetErrorName(error), info.result);
    CHECK(cudaGraphCreate(&other, 0));
    CHECK(cudaGraphAddEmptyNode(&last, other, nullptr, 0));
    last = digit(other, last, 4);
    error = cudaGraphExecUpdate(ready, other, &info);
    printf("%s %d ", cudaGetErrorName(error), info.result);
    printf("%u\n", launched(ready));
}

static void events()
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t node, mark;
    cudaEvent_t done, begin;
    cudaStream_t free_running;
    CHECK(cudaEventCreate(&done));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, begin));
    node = digit(graph, node, 6);
    CHECK(cudaGraphAddEventRecordNode(&mark, graph, &node, 1, done));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    *number = 0;
    append<<<1, 1, 0, free_running>>>(number, 5);
    CHECK(cudaEventRecord(begin, free_running));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamWaitEvent(free_running, done));
    append<<<1, 1, 0, free_running>>>(number, 7);
    CHECK(cudaStreamSynchronize(free_running));
    printf("%u\n", *number);
}

static unsigned long long bytes(cudaGraphMemAttributeType what)
{
    unsigned long long value;
    CHECK(cudaDeviceGetGraphMemAttribute(0, what, &value));
    return value;
}

static void memory()
{
    cudaGraph_t graph, freeing;
    cudaGraphExec_t ready, frees, automatic;
    cudaGraphNode_t made, filled, gone;
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 1 << 20;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &params));
    float *data = static_cast<float *>(params.dptr), value = 3, copy[2];
    void *arguments[] = {&data, &value};
    cudaKernelNodeParams kernel_params = {};
    kernel_params.func = (void *)put;
    kernel_params.gridDim = dim3(1);
    kernel_params.blockDim = dim3(32);
    kernel_params.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&filled, graph, &made, 1, &kernel_params));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphInstantiate(&automatic, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    CHECK(cudaGraphCreate(&freeing, 0));
    CHECK(cudaGraphAddMemFreeNode(&gone, freeing, nullptr, 0, data));
    CHECK(cudaGraphInstantiate(&frees, freeing, 0));
    CHECK(cudaGraphDestroy(graph));
    printf("%s ", cudaGetErrorName(cudaGraphLaunch(frees, stream))); // not allocated
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaMemcpyAsync(copy, data + 8, sizeof copy, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%g %g %llu ", copy[0], copy[1], bytes(cudaGraphMemAttrUsedMemCurrent) >> 20);
    printf("%s ", cudaGetErrorName(cudaGraphLaunch(ready, stream))); // allocated still
    CHECK(cudaGraphLaunch(automatic, stream));
    CHECK(cudaGraphLaunch(frees, stream));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaFreeAsync(data, stream));
    printf("%llu %llu ", bytes(cudaGraphMemAttrUsedMemCurrent) >> 20, bytes(cudaGraphMemAttrReservedMemCurrent) >> 20);
    CHECK(cudaDeviceGraphMemTrim(0));
    printf("%llu %llu ", bytes(cudaGraphMemAttrReservedMemCurrent) >> 20, bytes(cudaGraphMemAttrReservedMemHigh) >> 20);
    printf("%s\n", cudaGetErrorName(cudaFree(data)));
    cudaStream_t branch;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&branch));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    float *first, *second, result[4] = {};
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&first, 4 * sizeof(float), stream));
    put<<<1, 4, 0, stream>>>(first, 10);
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(branch, fork, 0));
    CHECK(cudaMemcpyAsync(result, first, sizeof result, cudaMemcpyDeviceToHost, branch));
    CHECK(cudaMallocAsync(&second, 64, stream));
    CHECK(cudaFreeAsync(second, stream));
    CHECK(cudaEventRecord(join, branch));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    CHECK(cudaStreamDestroy(branch)); // it was joined back
    CHECK(cudaFreeAsync(first, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    size_t count;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    printf("%g %g %zu\n", result[0], result[3], count);
}

int main()
{
    CHECK(cudaMallocManaged(&number, 4));
    CHECK(cudaStreamCreate(&stream));
    conditions();
    into_a_capture();
    edges();
    updates();
    events();
    memory();
    return 0;
}
