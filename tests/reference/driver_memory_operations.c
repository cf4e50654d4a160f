/* Streams that wait for values in memory, and write them. */
#include <cuda.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static CUstreamBatchMemOpParams write_32(CUdeviceptr to, cuuint32_t value)
{
    CUstreamBatchMemOpParams made;
    memset(&made, 0, sizeof made);
    made.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    made.writeValue.address = to;
    made.writeValue.value = value;
    return made;
}

static CUstreamBatchMemOpParams wait_64(CUdeviceptr at, cuuint64_t value, unsigned int flags)
{
    CUstreamBatchMemOpParams made;
    memset(&made, 0, sizeof made);
    made.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    made.waitValue.address = at;
    made.waitValue.value64 = value;
    made.waitValue.flags = flags;
    return made;
}

/* One stream waits for what the program writes, or another stream. */
static void waits(CUstream stream, CUstream other)
{
    volatile cuuint32_t *flag;
    CUdeviceptr seen, memory;
    cuuint64_t back = 0;
    CALL(cuMemHostAlloc((void **)&flag, sizeof *flag, CU_MEMHOSTALLOC_DEVICEMAP));
    CALL(cuMemHostGetDevicePointer(&seen, (void *)flag, 0));
    CALL(cuMemAlloc(&memory, 8));
    CALL(cuMemsetD8(memory, 0, 8));
    *flag = 0;
    CALL(cuStreamWaitValue32(stream, seen, 5, CU_STREAM_WAIT_VALUE_GEQ));
    CALL(cuStreamWriteValue64(stream, memory, 0x123456789aull, CU_STREAM_WRITE_VALUE_DEFAULT));
    CHECK(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    CALL(cuStreamWaitValue64(other, memory, 0x123456789aull, CU_STREAM_WAIT_VALUE_EQ));
    *flag = 6;
    CALL(cuMemcpyDtoHAsync(&back, memory, 8, stream));
    CALL(cuStreamSynchronize(other));
    CALL(cuStreamSynchronize(stream));
    CHECK(back == 0x123456789aull);
    CALL(cuStreamWriteValue32(stream, seen, 77, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    CALL(cuStreamSynchronize(stream));
    CHECK(*flag == 77);
    CHECK(cuStreamWriteValue32(stream, seen + 1, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuStreamWaitValue32(stream, seen, 1, CU_STREAM_WAIT_VALUE_FLUSH) == CUDA_ERROR_NOT_SUPPORTED);
    CALL(cuMemFreeHost((void *)flag));
    CALL(cuMemFree(memory));
}

static void in_batches(CUstream stream)
{
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode node;
    CUgraphNodeType type;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params, told;
    CUstreamBatchMemOpParams list[3];
    CUdeviceptr memory;
    cuuint32_t back[2] = {0, 0};
    CALL(cuMemAlloc(&memory, sizeof back));
    list[0] = write_32(memory, 1);
    list[1] = write_32(memory + 4, 2);
    list[2] = wait_64(memory, 0x200000001ull, CU_STREAM_WAIT_VALUE_EQ);
    CALL(cuStreamBatchMemOp(stream, 3, list, 0));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(back, memory, sizeof back));
    CHECK(back[0] == 1 && back[1] == 2);

    memset(&params, 0, sizeof params);
    params.count = 2;
    params.paramArray = list;
    list[0].writeValue.value = 10;
    list[1] = wait_64(memory, 1, CU_STREAM_WAIT_VALUE_NOR);
    CALL(cuGraphCreate(&graph, 0));
    CALL(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CALL(cuGraphNodeGetType(node, &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    CALL(cuGraphBatchMemOpNodeGetParams(node, &told));
    CHECK(told.count == 2 && told.paramArray != list && told.paramArray[0].writeValue.value == 10);
    CALL(cuGraphInstantiate(&executable, graph, 0));
    list[0].writeValue.value = 11;
    CALL(cuGraphBatchMemOpNodeSetParams(node, &params));
    CALL(cuGraphLaunch(executable, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(back, memory, sizeof back));
    CHECK(back[0] == 10);
    CALL(cuGraphExecBatchMemOpNodeSetParams(executable, node, &params));
    CALL(cuGraphLaunch(executable, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(back, memory, sizeof back));
    CHECK(back[0] == 11);
    CALL(cuGraphExecDestroy(executable));
    CALL(cuGraphDestroy(graph));
    CALL(cuMemFree(memory));
}

int main(void)
{
    CUcontext context;
    CUstream stream, other;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    waits(stream, other);
    in_batches(stream);
    CALL(cuStreamDestroy(other));
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
