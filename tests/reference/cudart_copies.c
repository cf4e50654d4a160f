/* Copies to and from arrays in the order of rows, between devices, and of several ranges by one call. */
#include <cuda_runtime.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

enum { COUNT = 8, SIZE = COUNT * sizeof(int) };

static void arrays(cudaStream_t stream)
{
    struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindSigned};
    cudaArray_t first, second;
    int from[COUNT], to[COUNT];
    for (int i = 0; i < COUNT; i++)
        from[i] = i;
    CALL(cudaMallocArray(&first, &format, COUNT, 0, 0));
    CALL(cudaMallocArray(&second, &format, COUNT, 0, 0));
    CALL(cudaMemcpyToArrayAsync(first, 0, 0, from, SIZE, cudaMemcpyHostToDevice, stream));
    CALL(cudaStreamSynchronize(stream));
    CALL(cudaMemcpyArrayToArray(second, 0, 0, first, 4 * sizeof(int), 0, 4 * sizeof(int), cudaMemcpyDeviceToDevice));
    CALL(cudaMemcpyFromArrayAsync(to, second, 0, 0, 4 * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(to[0] == 4 && to[3] == 7);
    CALL(cudaFreeArray(first));
    CALL(cudaFreeArray(second));
}

static void between_devices(cudaStream_t stream)
{
    struct cudaMemcpy3DPeerParms copy;
    int *from, *to, back[COUNT];
    CALL(cudaMalloc((void **)&from, SIZE));
    CALL(cudaMalloc((void **)&to, SIZE));
    CALL(cudaMemset(from, 1, SIZE));
    CALL(cudaMemset(to, 0, SIZE));
    memset(&copy, 0, sizeof copy);
    copy.srcPtr.ptr = from;
    copy.dstPtr.ptr = to;
    copy.srcPtr.pitch = copy.dstPtr.pitch = SIZE;
    copy.srcPtr.ysize = copy.dstPtr.ysize = 1;
    copy.extent.width = SIZE / 2;
    copy.extent.height = copy.extent.depth = 1;
    CALL(cudaMemcpy3DPeer(&copy));
    copy.dstPos.x = SIZE / 2;
    CALL(cudaMemcpy3DPeerAsync(&copy, stream));
    CALL(cudaStreamSynchronize(stream));
    CALL(cudaMemcpy(back, to, SIZE, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 0x01010101 && back[COUNT - 1] == 0x01010101);
    CALL(cudaFree(from));
    CALL(cudaFree(to));
}

static void batches(cudaStream_t stream)
{
    int *memory, from[2] = {11, 12}, back[2];
    struct cudaMemcpyAttributes how = {cudaMemcpySrcAccessOrderDuringApiCall, {0, 0}, {0, 0}, 0};
    size_t sizes[] = {sizeof(int), sizeof(int)}, first = 0, failed = 5;
    struct cudaMemcpy3DBatchOp box;
    CALL(cudaMalloc((void **)&memory, sizeof from));
    void *to[] = {memory, memory + 1}, *of[] = {from, from + 1};
    CALL(cudaMemcpyBatchAsync(to, of, sizes, 2, &how, &first, 1, &failed, stream));
    CHECK(failed == SIZE_MAX);
    from[0] = from[1] = 0; /* they were read during the call */
    CALL(cudaStreamSynchronize(stream));
    CALL(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 11 && back[1] == 12);

    memset(&box, 0, sizeof box);
    box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
    box.src.op.ptr.ptr = memory;
    box.dst.op.ptr.ptr = memory + 1;
    box.extent.width = sizeof(int);
    box.extent.height = box.extent.depth = 1;
    box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CALL(cudaMemcpy3DBatchAsync(1, &box, &failed, 0, stream));
    CALL(cudaStreamSynchronize(stream));
    CALL(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 11 && back[1] == 11);

    to[1] = NULL;
    CHECK(cudaMemcpyBatchAsync(to, of, sizes, 2, &how, &first, 1, &failed, stream) == cudaErrorInvalidValue);
    CHECK(failed == 1);
    CHECK(cudaMemcpyBatchAsync(to, of, sizes, 1, &how, &first, 1, &failed, NULL) != cudaSuccess);
    CALL(cudaFree(memory));
}

/* Hints are kept: nothing moves by them here. */
static void hints(cudaStream_t stream)
{
    enum { BYTES = 8192 };
    char *memory;
    int value, several[2];
    void *answers[] = {&value, several};
    size_t sizes[] = {sizeof value, sizeof several};
    enum cudaMemRangeAttribute asked[] = {cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributeAccessedBy};
    struct cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    CALL(cudaMallocManaged((void **)&memory, BYTES, cudaMemAttachGlobal));
    CALL(cudaMemAdvise(memory, BYTES / 2, cudaMemAdviseSetReadMostly, 0));
    CALL(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, memory, BYTES / 2));
    CHECK(value == 1);
    CALL(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, memory, BYTES));
    CHECK(value == 0); /* not all of it */
    CALL(cudaMemAdvise_v2(memory, BYTES, cudaMemAdviseSetPreferredLocation, host));
    CALL(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributePreferredLocation, memory, BYTES));
    CHECK(value == cudaCpuDeviceId);
    CALL(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributePreferredLocationType, memory, BYTES));
    CHECK(value == cudaMemLocationTypeHost);
    CALL(cudaMemAdvise(memory, BYTES, cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
    CALL(cudaMemPrefetchAsync_v2(memory, BYTES, host, 0, stream));
    CALL(cudaStreamSynchronize(stream));
    CALL(cudaMemRangeGetAttributes(answers, sizes, asked, 2, memory, BYTES));
    CHECK(value == cudaCpuDeviceId && several[0] == cudaCpuDeviceId && several[1] == cudaInvalidDeviceId);
    CALL(cudaFree(memory));
}

int main(void)
{
    cudaStream_t stream;
    CALL(cudaStreamCreate(&stream));
    arrays(stream);
    between_devices(stream);
    batches(stream);
    hints(stream);
    CALL(cudaStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
