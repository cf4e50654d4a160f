/* Functions of the host in streams, a capture, and the graph that it makes. */
#include <cuda.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static int calls;

static void count(void *by)
{
    calls += *(int *)by;
}

static void counted(CUstream stream, CUresult status, void *by)
{
    (void)stream;
    calls += status == CUDA_SUCCESS ? *(int *)by : 0;
}

static void tells(CUstream stream, CUcontext context)
{
    CUcontext of;
    CUdevice device = -1;
    unsigned int flags;
    unsigned long long identity, other;
    int priority;
    CALL(cuStreamGetCtx(stream, &of));
    CHECK(of == context);
    CALL(cuStreamGetDevice(stream, &device));
    CHECK(device == 0);
    CALL(cuStreamGetFlags(stream, &flags));
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    CALL(cuStreamGetId(stream, &identity));
    CALL(cuStreamGetId(NULL, &other));
    CHECK(identity != other);
    CALL(cuStreamGetPriority(stream, &priority));
    CHECK(priority == 0);
}

static CUgraph captured(CUstream stream, int *by)
{
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUgraph graph;
    CALL(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL); /* what it was */
    CALL(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cuStreamIsCapturing(stream, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CALL(cuLaunchHostFunc(stream, count, by));
    CALL(cuStreamEndCapture(stream, &graph));
    CHECK(calls == 0); /* captured, not called */
    return graph;
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUgraph inner, outer, copy;
    CUgraphNode nodes[2], child, empty;
    CUgraphNodeType type;
    CUgraphExec executable;
    size_t known = 2;
    int by = 5;

    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    tells(stream, context);
    inner = captured(stream, &by);
    CALL(cuGraphCreate(&outer, 0));
    CALL(cuGraphAddEmptyNode(&empty, outer, NULL, 0));
    CALL(cuGraphAddChildGraphNode(&child, outer, &empty, 1, inner));
    CALL(cuGraphGetRootNodes(outer, nodes, &known));
    CHECK(known == 1 && nodes[0] == empty);
    CALL(cuGraphNodeGetType(child, &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_GRAPH);
    CALL(cuGraphDestroyNode(empty));
    CALL(cuGraphGetNodes(outer, NULL, &known));
    CHECK(known == 1);
    CALL(cuGraphClone(&copy, outer));
    CALL(cuGraphInstantiate(&executable, copy, 0));
    CALL(cuGraphUpload(executable, stream));
    CALL(cuGraphLaunch(executable, stream));
    CALL(cuGraphLaunch(executable, stream));
    CALL(cuStreamAddCallback(stream, counted, &by, 0));
    CALL(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CALL(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT));
    CALL(cuEventSynchronize(event));
    CHECK(calls == 3 * by);
    CALL(cuGraphExecDestroy(executable));
    CALL(cuGraphDestroy(copy));
    CALL(cuGraphDestroy(outer));
    CALL(cuGraphDestroy(inner));
    CALL(cuEventDestroy(event));
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
