/* Copies of several ranges by one call, and hints about managed memory, by the driver's functions. */
#include <cuda.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static void batches(CUstream stream)
{
    int *from, back[2];
    CUdeviceptr memory;
    CUmemcpyAttributes how;
    CUDA_MEMCPY3D_BATCH_OP box;
    size_t sizes[] = {sizeof(int), sizeof(int)}, first = 0, failed = 5;
    CALL(cuMemAllocHost((void **)&from, 2 * sizeof(int)));
    CALL(cuMemAlloc(&memory, sizeof back));
    from[0] = 1, from[1] = 2;
    CUdeviceptr to[] = {memory + sizeof(int), memory}, of[] = {(CUdeviceptr)from, (CUdeviceptr)(from + 1)};
    memset(&how, 0, sizeof how);
    how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CALL(cuMemcpyBatchAsync(to, of, sizes, 2, &how, &first, 1, &failed, stream));
    CHECK(failed == SIZE_MAX);
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(back, memory, sizeof back));
    CHECK(back[0] == 2 && back[1] == 1);
    memset(&box, 0, sizeof box);
    box.src.type = box.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    box.src.op.ptr.ptr = memory;
    box.dst.op.ptr.ptr = memory + sizeof(int);
    box.extent.width = sizeof(int);
    box.extent.height = box.extent.depth = 1;
    box.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    CALL(cuMemcpy3DBatchAsync(1, &box, &failed, 0, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(back, memory, sizeof back));
    CHECK(back[0] == 2 && back[1] == 2);
    CALL(cuMemFree(memory));
    CALL(cuMemFreeHost(from));
}

static void hints(CUstream stream)
{
    enum { BYTES = 8192 };
    CUdeviceptr memory;
    CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    int value, other;
    void *answers[] = {&value, &other};
    size_t sizes[] = {sizeof value, sizeof other};
    CUmem_range_attribute asked[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                     CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
    CALL(cuMemAllocManaged(&memory, BYTES, CU_MEM_ATTACH_GLOBAL));
    CALL(cuMemAdvise_v2(memory, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    CALL(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, BYTES));
    CHECK(value == CU_DEVICE_CPU);
    CALL(cuMemPrefetchAsync_v2(memory, BYTES / 2, host, 0, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemRangeGetAttributes(answers, sizes, asked, 2, memory, BYTES));
    CHECK(value == CU_DEVICE_INVALID && other == 0); /* one half only */
    CALL(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, BYTES / 2));
    CHECK(value == CU_DEVICE_CPU);
    CALL(cuMemFree(memory));
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUevent begin, end;
    float ms = -1;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CALL(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CALL(cuEventRecord(begin, stream));
    batches(stream);
    hints(stream);
    CALL(cuEventRecord(end, stream));
    CALL(cuEventSynchronize(end));
    CALL(cuEventElapsedTime_v2(&ms, begin, end));
    CHECK(ms >= 0);
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
