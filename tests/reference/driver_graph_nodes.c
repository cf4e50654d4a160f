/* Nodes with their parameters by the driver's functions: made, asked about, changed, here and in an executable. */
#include <cuda.h>
#include <nvrtc.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)
#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)

enum { COUNT = 4, SIZE = COUNT * sizeof(int) };

static const char source[] =
    "extern \"C\" __global__ void add(int *to, int by) { to[threadIdx.x] += by; }\n"
    "extern \"C\" __global__ void fill(int *to, int with) { to[threadIdx.x] = with; }\n";

static int called;

static void count(void *by)
{
    called += *(int *)by;
}

static CUmodule compiled(void)
{
    nvrtcProgram program;
    CUmodule module;
    size_t size;
    char *image;
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

static CUDA_KERNEL_NODE_PARAMS launch(CUfunction function, void **arguments)
{
    CUDA_KERNEL_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = COUNT;
    params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    return params;
}

static CUDA_MEMCPY3D to_host(int *to, CUdeviceptr from)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    copy.WidthInBytes = SIZE;
    copy.Height = copy.Depth = 1;
    return copy;
}

static void run(CUgraphExec executable, CUstream stream)
{
    CALL(cuGraphLaunch(executable, stream));
    CALL(cuStreamSynchronize(stream));
}

static void made_and_changed(CUmodule module, CUcontext context, CUstream stream)
{
    CUfunction add, fill;
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode clear, kernel, copy, host;
    CUgraphExecUpdateResultInfo info;
    CUDA_KERNEL_NODE_PARAMS launched;
    CUDA_MEMSET_NODE_PARAMS filled;
    CUDA_MEMCPY3D copied;
    CUDA_HOST_NODE_PARAMS calls;
    CUdeviceptr memory;
    unsigned int enabled = 0;
    int one = 1, ten = 10, seven = 7, back[COUNT], other[COUNT];
    void *by_one[] = {&memory, &one}, *by_ten[] = {&memory, &ten}, *with_seven[] = {&memory, &seven};

    CALL(cuModuleGetFunction(&add, module, "add"));
    CALL(cuModuleGetFunction(&fill, module, "fill"));
    CALL(cuMemAlloc(&memory, SIZE));
    CALL(cuGraphCreate(&graph, 0));
    memset(&filled, 0, sizeof filled);
    filled.dst = memory;
    filled.value = 100;
    filled.elementSize = sizeof(int);
    filled.width = COUNT;
    filled.height = 1;
    CALL(cuGraphAddMemsetNode(&clear, graph, NULL, 0, &filled, context));
    launched = launch(add, by_one);
    CALL(cuGraphAddKernelNode(&kernel, graph, &clear, 1, &launched));
    copied = to_host(back, memory);
    CALL(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copied, context));
    calls.fn = count;
    calls.userData = &one;
    CALL(cuGraphAddHostNode(&host, graph, &copy, 1, &calls));
    CALL(cuGraphInstantiate(&executable, graph, 0));
    run(executable, stream);
    CHECK(back[0] == 101 && back[COUNT - 1] == 101 && called == 1);

    /* What they were given. The kernel's arguments are the node's own copies. */
    memset(&launched, 0, sizeof launched);
    CALL(cuGraphKernelNodeGetParams(kernel, &launched));
    CHECK(launched.func == add && launched.gridDimX == 1 && launched.blockDimX == COUNT);
    CHECK(*(CUdeviceptr *)launched.kernelParams[0] == memory && *(int *)launched.kernelParams[1] == 1);
    CALL(cuGraphMemsetNodeGetParams(clear, &filled));
    CHECK(filled.dst == memory && filled.value == 100 && filled.width == COUNT);
    CALL(cuGraphMemcpyNodeGetParams(copy, &copied));
    CHECK(copied.dstHost == back && copied.srcDevice == memory && copied.WidthInBytes == SIZE);
    CALL(cuGraphHostNodeGetParams(host, &calls));
    CHECK(calls.fn == count && calls.userData == &one);

    /* The executable alone is changed. */
    launched = launch(add, by_ten);
    CALL(cuGraphExecKernelNodeSetParams(executable, kernel, &launched));
    filled.value = 200;
    CALL(cuGraphExecMemsetNodeSetParams(executable, clear, &filled, context));
    copied.dstHost = other;
    CALL(cuGraphExecMemcpyNodeSetParams(executable, copy, &copied, context));
    calls.userData = &ten;
    CALL(cuGraphExecHostNodeSetParams(executable, host, &calls));
    run(executable, stream);
    CHECK(other[0] == 210 && back[0] == 101 && called == 11);
    CALL(cuGraphNodeSetEnabled(executable, kernel, 0));
    CALL(cuGraphNodeGetEnabled(executable, clear, &enabled));
    CHECK(enabled == 1);
    run(executable, stream);
    CHECK(other[0] == 200);
    CALL(cuGraphNodeSetEnabled(executable, kernel, 1));

    /* The graph is changed, the executable after it. */
    launched = launch(fill, with_seven);
    CALL(cuGraphKernelNodeSetParams(kernel, &launched));
    CALL(cuGraphMemsetNodeSetParams(clear, &filled));
    copied.dstHost = back;
    CALL(cuGraphMemcpyNodeSetParams(copy, &copied));
    CALL(cuGraphHostNodeSetParams(host, &calls));
    CALL(cuGraphExecUpdate(executable, graph, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    run(executable, stream);
    CHECK(back[0] == 7 && called == 31);

    CHECK(cuGraphHostNodeGetParams(kernel, &calls) == CUDA_ERROR_INVALID_VALUE);
    launched.blockDimX = 5000;
    CHECK(cuGraphKernelNodeSetParams(kernel, &launched) == CUDA_ERROR_INVALID_VALUE);
    CALL(cuGraphExecDestroy(executable));
    CALL(cuGraphDestroy(graph));
    CALL(cuMemFree(memory));
}

/* One function makes every kind of node. */
static void of_any_kind(CUmodule module, CUcontext context, CUstream stream)
{
    CUfunction fill;
    CUgraph graph, inner, child;
    CUgraphExec executable;
    CUgraphNode nodes[4], many[4];
    CUgraphNodeParams params;
    CUgraphExecUpdateResultInfo info;
    CUgraphEdgeData full;
    size_t known = 4;
    CUdeviceptr memory;
    int three = 3, four = 4, back[COUNT];
    void *with_three[] = {&memory, &three}, *with_four[] = {&memory, &four};

    CALL(cuModuleGetFunction(&fill, module, "fill"));
    CALL(cuMemAlloc(&memory, SIZE));
    CALL(cuGraphCreate(&graph, 0));
    CALL(cuGraphCreate(&inner, 0));
    memset(&full, 0, sizeof full);
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    params.kernel.func = fill;
    params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
    params.kernel.blockDimX = COUNT;
    params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    params.kernel.kernelParams = with_three;
    params.kernel.ctx = context;
    CALL(cuGraphAddNode(&nodes[0], inner, NULL, 0, &params));
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = inner;
    CALL(cuGraphAddNode(&nodes[1], graph, NULL, 0, &params));
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    params.memcpy.copyCtx = context;
    params.memcpy.copyParams = to_host(back, memory);
    CALL(cuGraphAddNode_v2(&nodes[2], graph, &nodes[1], &full, 1, &params));
    CALL(cuGraphInstantiate(&executable, graph, 0));
    run(executable, stream);
    CHECK(back[0] == 3);

    /* A node of the child, which is a copy of `inner`, in the executable. */
    CALL(cuGraphChildGraphNodeGetGraph(nodes[1], &child));
    CALL(cuGraphGetNodes(child, many, &known));
    CHECK(known == 1 && many[0] != nodes[0]);
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    params.kernel.func = fill;
    params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
    params.kernel.blockDimX = COUNT;
    params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    params.kernel.kernelParams = with_four;
    CALL(cuGraphExecNodeSetParams(executable, many[0], &params));
    run(executable, stream);
    CHECK(back[0] == 4);
    CALL(cuGraphNodeSetParams(nodes[0], &params));
    CALL(cuGraphExecChildGraphNodeSetParams(executable, nodes[1], inner));
    run(executable, stream);
    CHECK(back[0] == 4);
    /* All of it as in the graph, whose nodes name those of the executable after that, too. */
    CALL(cuGraphExecUpdate(executable, graph, &info));
    run(executable, stream);
    CHECK(back[0] == 3);
    CALL(cuGraphExecNodeSetParams(executable, many[0], &params));
    run(executable, stream);
    CHECK(back[0] == 4);
    CALL(cuGraphExecDestroy(executable));
    CALL(cuGraphDestroy(inner));
    CALL(cuGraphDestroy(graph));
    CALL(cuMemFree(memory));
}

static void events(CUstream stream)
{
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode record, wait;
    CUevent first, second, found;
    CALL(cuEventCreate(&first, CU_EVENT_DEFAULT));
    CALL(cuEventCreate(&second, CU_EVENT_DEFAULT));
    CALL(cuGraphCreate(&graph, 0));
    CALL(cuGraphAddEventRecordNode(&record, graph, NULL, 0, first));
    CALL(cuGraphAddEventWaitNode(&wait, graph, &record, 1, first));
    CALL(cuGraphEventRecordNodeGetEvent(record, &found));
    CHECK(found == first);
    CALL(cuGraphEventWaitNodeSetEvent(wait, second));
    CALL(cuGraphEventWaitNodeGetEvent(wait, &found));
    CHECK(found == second);
    CALL(cuGraphEventRecordNodeSetEvent(record, second));
    CALL(cuGraphInstantiate(&executable, graph, 0));
    CALL(cuGraphExecEventRecordNodeSetEvent(executable, record, first));
    CALL(cuGraphExecEventWaitNodeSetEvent(executable, wait, first));
    run(executable, stream);
    CALL(cuEventSynchronize(first));
    CALL(cuGraphExecDestroy(executable));
    CALL(cuGraphDestroy(graph));
    CALL(cuEventDestroy(first));
    CALL(cuEventDestroy(second));
}

/* Memory that begins and ends in the graph. */
static void memory(CUcontext context, CUstream stream)
{
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode begin, use, end;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted, told;
    CUDA_MEMSET_NODE_PARAMS filled;
    CUdeviceptr freed;
    cuuint64_t used = 1;
    memset(&wanted, 0, sizeof wanted);
    wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.bytesize = SIZE;
    CALL(cuGraphCreate(&graph, 0));
    CALL(cuGraphAddMemAllocNode(&begin, graph, NULL, 0, &wanted));
    memset(&filled, 0, sizeof filled);
    filled.dst = wanted.dptr;
    filled.elementSize = 1;
    filled.width = SIZE;
    filled.height = 1;
    CALL(cuGraphAddMemsetNode(&use, graph, &begin, 1, &filled, context));
    CALL(cuGraphAddMemFreeNode(&end, graph, &use, 1, wanted.dptr));
    CALL(cuGraphMemAllocNodeGetParams(begin, &told));
    CHECK(told.dptr == wanted.dptr && told.bytesize == SIZE);
    CALL(cuGraphMemFreeNodeGetParams(end, &freed));
    CHECK(freed == wanted.dptr);
    CALL(cuGraphInstantiate(&executable, graph, 0));
    run(executable, stream);
    CALL(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used >= SIZE); /* a graph maps it until it is trimmed */
    CALL(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
    CHECK(used >= SIZE);
    used = 0;
    CALL(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
    CALL(cuDeviceGraphMemTrim(0));
    CALL(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used == 0);
    run(executable, stream);
    CALL(cuGraphExecDestroy(executable));
    CALL(cuGraphDestroy(graph));
    CALL(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used == 0);
    CALL(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &used));
    CHECK(used >= SIZE);
    CALL(cuDeviceGraphMemTrim(0));
    CALL(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &used));
    CHECK(used == 0);
}

static void attributes(CUmodule module)
{
    CUfunction fill;
    CUgraph graph;
    CUgraphNode first, second;
    CUDA_KERNEL_NODE_PARAMS params;
    CUlaunchAttributeValue value;
    CUdeviceptr memory = 0;
    int by = 1;
    void *arguments[] = {&memory, &by};
    CALL(cuModuleGetFunction(&fill, module, "fill"));
    CALL(cuGraphCreate(&graph, 0));
    params = launch(fill, arguments);
    CALL(cuGraphAddKernelNode(&first, graph, NULL, 0, &params));
    CALL(cuGraphAddKernelNode(&second, graph, NULL, 0, &params));
    memset(&value, 0, sizeof value);
    value.cooperative = 1;
    CALL(cuGraphKernelNodeSetAttribute(first, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    CALL(cuGraphKernelNodeCopyAttributes(second, first));
    memset(&value, 0, sizeof value);
    CALL(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    CHECK(value.cooperative == 1);
    CALL(cuGraphDestroy(graph));
}

/* A kernel decides whether the graph inside runs. */
static void condition(CUstream stream, CUcontext context)
{
    CUgraph graph;
    CUgraphExec executable;
    CUgraphConditionalHandle handle;
    CUgraphNode node, host;
    CUgraphNodeParams params;
    CUDA_HOST_NODE_PARAMS calls;
    int by = 1000, before = called;
    CALL(cuGraphCreate(&graph, 0));
    CALL(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CALL(cuGraphAddNode(&node, graph, NULL, 0, &params));
    calls.fn = count;
    calls.userData = &by;
    CALL(cuGraphAddHostNode(&host, params.conditional.phGraph_out[0], NULL, 0, &calls));
    CALL(cuGraphInstantiate(&executable, graph, 0));
    run(executable, stream);
    CHECK(called == before + 1000);
    CALL(cuGraphExecDestroy(executable));
    CALL(cuGraphDestroy(graph));
}

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUstream stream;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    module = compiled();
    made_and_changed(module, context, stream);
    of_any_kind(module, context, stream);
    events(stream);
    memory(context, stream);
    attributes(module);
    condition(stream, context);
    CALL(cuModuleUnload(module));
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
