/* Edges with their data, clones, executables by parameters, objects that graphs keep alive, a drawing. */
#include <cuda_runtime.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

static int ended;

static void end(void *by)
{
    ended += *(int *)by;
}

static void edges(cudaGraph_t graph, const cudaGraphNode_t *nodes)
{
    cudaGraphNode_t from[3], to[3];
    cudaGraphEdgeData data[3];
    size_t known = 3;
    memset(data, 0, sizeof data);
    CALL(cudaGraphAddDependencies_v2(graph, nodes, nodes + 1, data, 2));
    data[0].type = 1; /* not a full dependency */
    CHECK(cudaGraphAddDependencies_v2(graph, nodes, nodes + 2, data, 1) == cudaErrorNotSupported);
    CALL(cudaGraphGetEdges_v2(graph, from, to, data, &known));
    CHECK(known == 2 && from[1] == nodes[1] && to[1] == nodes[2] && data[0].type == 0);
    known = 3;
    CALL(cudaGraphNodeGetDependencies_v2(nodes[2], from, data, &known));
    CHECK(known == 1 && from[0] == nodes[1]);
    known = 3;
    CALL(cudaGraphNodeGetDependentNodes_v2(nodes[0], to, data, &known));
    CHECK(known == 1 && to[0] == nodes[1]);
    CALL(cudaGraphRemoveDependencies_v2(graph, nodes, nodes + 1, NULL, 1));
    CALL(cudaGraphGetEdges_v2(graph, NULL, NULL, NULL, &known));
    CHECK(known == 1);
}

static void executables(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphInstantiateParams params;
    cudaGraphExec_t executable;
    unsigned long long flags;
    memset(&params, 0, sizeof params);
    params.flags = cudaGraphInstantiateFlagUpload;
    params.uploadStream = stream;
    CALL(cudaGraphInstantiateWithParams(&executable, graph, &params));
    CHECK(params.result_out == cudaGraphInstantiateSuccess && params.errNode_out == NULL);
    CALL(cudaGraphExecGetFlags(executable, &flags));
    CHECK(flags == cudaGraphInstantiateFlagUpload);
    CALL(cudaGraphExecDestroy(executable));
}

static void kept(cudaGraph_t graph, cudaStream_t stream)
{
    cudaUserObject_t object;
    cudaGraphExec_t executable;
    int by = 1;
    CALL(cudaUserObjectCreate(&object, &by, end, 1, cudaUserObjectNoDestructorSync));
    CALL(cudaUserObjectRetain(object, 1));
    CALL(cudaGraphRetainUserObject(graph, object, 1, 0));
    CALL(cudaUserObjectRelease(object, 2));
    CALL(cudaGraphInstantiate(&executable, graph, 0));
    CALL(cudaGraphReleaseUserObject(graph, object, 1));
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(ended == 0); /* the executable has a reference */
    CALL(cudaGraphExecDestroy(executable));
    CHECK(ended == 1);
}

int main(void)
{
    cudaStream_t stream;
    cudaGraph_t graph, copy;
    cudaGraphNode_t nodes[3], twin;
    enum cudaGraphNodeType type;
    CALL(cudaStreamCreate(&stream));
    CALL(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 3; i++)
        CALL(cudaGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
    edges(graph, nodes);
    executables(graph, stream);
    kept(graph, stream);
    CALL(cudaGraphClone(&copy, graph));
    CALL(cudaGraphNodeFindInClone(&twin, nodes[2], copy));
    CALL(cudaGraphNodeGetType(twin, &type));
    CHECK(twin != nodes[2] && type == cudaGraphNodeTypeEmpty);
    CALL(cudaGraphDebugDotPrint(copy, "cudart_graph_objects.dot", cudaGraphDebugDotFlagsVerbose));
    CHECK(remove("cudart_graph_objects.dot") == 0);
    CALL(cudaGraphDestroy(copy));
    CALL(cudaGraphDestroy(graph));
    CALL(cudaStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
