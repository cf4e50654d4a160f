/* Edges of graphs, their clones and executables, what they keep alive, and a drawing, by the driver's functions. */
#include <cuda.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static int ended;

static void end(void *by)
{
    ended += *(int *)by;
}

static void edges(CUgraph graph, const CUgraphNode *nodes)
{
    CUgraphNode from[3], to[3], found[3];
    CUgraphEdgeData data[3], full;
    size_t known = 3;
    memset(&full, 0, sizeof full);
    CALL(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    CALL(cuGraphAddDependencies_v2(graph, &nodes[1], &nodes[2], &full, 1));
    CALL(cuGraphGetEdges(graph, NULL, NULL, &known));
    CHECK(known == 2);
    CALL(cuGraphGetEdges(graph, from, to, &known));
    CHECK(from[0] == nodes[0] && to[0] == nodes[1] && from[1] == nodes[1] && to[1] == nodes[2]);
    memset(data, 0xff, sizeof data);
    CALL(cuGraphGetEdges_v2(graph, from, to, data, &known));
    CHECK(known == 2 && data[0].type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT && data[1].from_port == 0);
    known = 3;
    CALL(cuGraphNodeGetDependencies(nodes[1], found, &known));
    CHECK(known == 1 && found[0] == nodes[0]);
    known = 3;
    CALL(cuGraphNodeGetDependencies_v2(nodes[2], found, data, &known));
    CHECK(known == 1 && found[0] == nodes[1] && data[0].type == 0);
    known = 3;
    CALL(cuGraphNodeGetDependentNodes(nodes[0], found, &known));
    CHECK(known == 1 && found[0] == nodes[1]);
    known = 3;
    CALL(cuGraphNodeGetDependentNodes_v2(nodes[2], found, data, &known));
    CHECK(known == 0);
    CALL(cuGraphRemoveDependencies_v2(graph, &nodes[1], &nodes[2], &full, 1));
    CALL(cuGraphRemoveDependencies(graph, &nodes[0], &nodes[1], 1));
    CALL(cuGraphGetEdges(graph, NULL, NULL, &known));
    CHECK(known == 0);
}

static void executables(CUgraph graph, const CUgraphNode *nodes, CUstream stream)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUgraphExec executable;
    cuuint64_t flags = 0;
    memset(&params, 0, sizeof params);
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = stream;
    CALL(cuGraphInstantiateWithParams(&executable, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    CALL(cuGraphExecGetFlags(executable, &flags));
    CHECK(flags == CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
    CALL(cuGraphExecDestroy(executable));

    /* Two that wait for each other. */
    CALL(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    CALL(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
    CHECK(cuGraphInstantiateWithParams(&executable, graph, &params) == CUDA_ERROR_INVALID_VALUE);
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CALL(cuGraphRemoveDependencies(graph, &nodes[1], &nodes[0], 1));
}

static void kept(CUgraph graph, CUstream stream)
{
    CUuserObject object;
    CUgraph copy;
    CUgraphExec executable;
    int by = 1;
    CALL(cuUserObjectCreate(&object, &by, end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CALL(cuUserObjectRetain(object, 2));
    CALL(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CALL(cuGraphClone(&copy, graph));
    CALL(cuGraphReleaseUserObject(graph, object, 1));
    CALL(cuUserObjectRelease(object, 2));
    CHECK(ended == 0); /* the clone has one */
    CALL(cuGraphInstantiate(&executable, copy, 0));
    CALL(cuGraphDestroy(copy));
    CALL(cuGraphLaunch(executable, stream));
    CHECK(ended == 0); /* the executable has one */
    CALL(cuGraphExecDestroy(executable));
    CALL(cuStreamSynchronize(stream));
    CHECK(ended == 1);
    CHECK(cuUserObjectRelease(object, 1) == CUDA_ERROR_INVALID_VALUE);
}

static void drawn(CUgraph graph)
{
    const char path[] = "driver_graph_edges.dot";
    char text[4096];
    size_t size;
    FILE *file;
    CALL(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    file = fopen(path, "r");
    CHECK(file != NULL);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    remove(path);
    CHECK(strstr(text, "digraph") != NULL && strstr(text, "Empty") != NULL && strstr(text, "->") != NULL);
    CHECK(cuGraphDebugDotPrint(graph, "/nowhere/at/all.dot", 0) == CUDA_ERROR_OPERATING_SYSTEM);
}

/* A capture goes into a graph that is there. */
static void captured(CUgraph graph, const CUgraphNode *nodes, CUstream stream)
{
    CUstreamCaptureStatus status;
    CUgraph into;
    const CUgraphNode *behind;
    const CUgraphEdgeData *data;
    cuuint64_t identity = 0;
    size_t known = 0;
    CALL(cuStreamBeginCaptureToGraph(stream, graph, nodes, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    CALL(cuStreamGetCaptureInfo(stream, &status, &identity, &into, &behind, &known));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && into == graph && known == 1 && behind[0] == nodes[0]);
    CALL(cuStreamUpdateCaptureDependencies(stream, (CUgraphNode *)&nodes[1], 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    CALL(cuStreamUpdateCaptureDependencies_v2(stream, (CUgraphNode *)&nodes[2], NULL, 1,
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    CALL(cuStreamGetCaptureInfo_v3(stream, &status, &identity, &into, &behind, &data, &known));
    CHECK(known == 1 && behind[0] == nodes[2]);
    CALL(cuStreamEndCapture(stream, &into));
}

static void attributes(CUstream stream, CUstream other)
{
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    CALL(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    CALL(cuStreamCopyAttributes(other, stream));
    memset(&value, 0, sizeof value);
    CALL(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    CHECK(value.syncPolicy == CU_SYNC_POLICY_YIELD);
}

int main(void)
{
    CUcontext context;
    CUstream stream, other;
    CUgraph graph, copy;
    CUgraphNode nodes[3], twin;
    size_t known = 1;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CALL(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 3; i++)
        CALL(cuGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
    edges(graph, nodes);
    executables(graph, nodes, stream);
    CALL(cuGraphClone(&copy, graph));
    CALL(cuGraphNodeFindInClone(&twin, nodes[1], copy));
    CALL(cuGraphNodeGetDependencies(twin, NULL, &known));
    CHECK(known == 1 && twin != nodes[1]);
    CHECK(cuGraphNodeFindInClone(&twin, nodes[1], graph) == CUDA_ERROR_INVALID_VALUE);
    CALL(cuGraphDestroy(copy));
    kept(graph, stream);
    drawn(graph);
    captured(graph, nodes, stream);
    attributes(stream, other);
    CALL(cuGraphDestroy(graph));
    CALL(cuStreamDestroy(other));
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
