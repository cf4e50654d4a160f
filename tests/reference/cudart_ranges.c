/* Several ranges of managed memory by one call, one copy with attributes, pools by their place, the runtime's log. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)
#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)

enum { BYTES = 8192 };

static int prefetched(const void *at, size_t size)
{
    int where;
    CALL(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributeLastPrefetchLocation, at, size));
    return where;
}

static void ranges(cudaStream_t stream)
{
    char *memory;
    struct cudaMemLocation goals[2] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
    CUmemLocation back = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CALL(cudaMallocManaged((void **)&memory, 3 * BYTES, cudaMemAttachGlobal));
    memset(memory, 7, 3 * BYTES);
    void *all[] = {memory, memory + BYTES, memory + 2 * BYTES};
    CUdeviceptr last = (CUdeviceptr)all[2];
    size_t sizes[] = {BYTES, BYTES, BYTES}, from[] = {0, 1}, wrong[] = {1, 2}, first = 0;
    CALL(cudaMemPrefetchBatchAsync(all, sizes, 3, goals, from, 2, 0, stream));
    CHECK(prefetched(memory, BYTES) == 0 && prefetched(memory + BYTES, 2 * BYTES) == cudaCpuDeviceId);
    DRIVER(cuMemDiscardAndPrefetchBatchAsync(&last, sizes, 1, &back, &first, 1, 0, stream));
    CHECK(prefetched(all[2], BYTES) == 0);
    DRIVER(cuMemPrefetchBatchAsync(&last, sizes, 1, &back, &first, 1, 0, stream));
    DRIVER(cuMemDiscardBatchAsync(&last, sizes, 1, 0, stream));
    CALL(cudaMemDiscardBatchAsync(all, sizes, 2, 0, stream));
    CALL(cudaMemDiscardAndPrefetchBatchAsync(all, sizes, 3, goals, from, 2, 0, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(cudaMemPrefetchBatchAsync(all, sizes, 3, goals, wrong, 2, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchBatchAsync(all, sizes, 3, goals, from, 4, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemDiscardBatchAsync(all, sizes, 2, 1, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemDiscardBatchAsync(all, sizes, 0, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemDiscardBatchAsync(all, sizes, 2, 0, NULL) == cudaErrorInvalidResourceHandle);
    CALL(cudaFree(memory));
}

static void copies(cudaStream_t stream)
{
    int from[2] = {1, 2}, back[2] = {0, 0}, *memory;
    struct cudaMemcpyAttributes how;
    struct cudaMemcpy3DBatchOp box;
    CUmemcpyAttributes driver_how;
    memset(&how, 0, sizeof how);
    memset(&box, 0, sizeof box);
    memset(&driver_how, 0, sizeof driver_how);
    CALL(cudaMalloc((void **)&memory, sizeof from));
    how.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    CALL(cudaMemcpyWithAttributesAsync(memory, from, sizeof from, &how, stream));
    driver_how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    DRIVER(cuMemcpyWithAttributesAsync((CUdeviceptr)back, (CUdeviceptr)memory, sizeof back, &driver_how, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(back[0] == 1 && back[1] == 2);
    box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
    box.src.op.ptr.ptr = memory;
    box.dst.op.ptr.ptr = back + 1;
    box.extent.width = sizeof(int);
    box.extent.height = box.extent.depth = 1;
    box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CALL(cudaMemcpy3DWithAttributesAsync(&box, 0, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(back[1] == 1);
    how.srcAccessOrder = 9;
    CHECK(cudaMemcpyWithAttributesAsync(memory, from, sizeof from, &how, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyWithAttributesAsync(memory, from, sizeof from, NULL, stream) == cudaErrorInvalidValue);
    CALL(cudaFree(memory));
}

static void pools(void)
{
    struct cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    CUmemLocation same = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    struct cudaMemPoolProps props;
    cudaMemPool_t usual, found, own;
    CUmemoryPool of_driver;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location = device;
    CALL(cudaDeviceGetDefaultMemPool(&usual, 0));
    CALL(cudaMemGetDefaultMemPool(&found, &device, cudaMemAllocationTypePinned));
    CHECK(found == usual);
    CALL(cudaMemPoolCreate(&own, &props));
    CALL(cudaMemSetMemPool(&device, cudaMemAllocationTypePinned, own));
    DRIVER(cuMemGetMemPool(&of_driver, &same, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK((void *)of_driver == (void *)own);
    DRIVER(cuMemGetDefaultMemPool(&of_driver, &same, CU_MEM_ALLOCATION_TYPE_PINNED));
    DRIVER(cuMemSetMemPool(&same, CU_MEM_ALLOCATION_TYPE_PINNED, of_driver));
    CALL(cudaMemGetMemPool(&found, &device, cudaMemAllocationTypePinned));
    CHECK(found == usual);
    CHECK(cudaMemGetMemPool(&found, &host, cudaMemAllocationTypePinned) == cudaErrorNotSupported);
    CHECK(cudaMemGetMemPool(&found, &device, cudaMemAllocationTypeManaged) == cudaErrorNotSupported);
    CHECK(cudaMemGetMemPool(&found, &device, (enum cudaMemAllocationType)7) == cudaErrorInvalidValue);
    CALL(cudaMemPoolDestroy(own));
}

static void count(void *data)
{
    ++*(int *)data;
}

static void tell(void *data, cudaLogLevel level, char *message, size_t length)
{
    *(int *)data += level == cudaLogLevelError && length == strlen(message);
}

static void calls(cudaStream_t stream)
{
    int done = 0, errors = 0;
    char text[600];
    size_t size = sizeof text;
    cudaLogIterator at;
    cudaLogsCallbackHandle handle;
    CALL(cudaLaunchHostFunc_v2(stream, count, &done, 1));
    DRIVER(cuLaunchHostFunc_v2(stream, count, &done, 0));
    CALL(cudaStreamSynchronize(stream));
    CHECK(done == 2);
    CALL(cudaLogsCurrent(&at, 0));
    CALL(cudaLogsRegisterCallback(tell, &errors, &handle));
    CHECK(cudaLaunchHostFunc_v2(stream, count, &done, 2) == cudaErrorInvalidValue);
    CALL(cudaLogsUnregisterCallback(handle));
    CHECK(errors == 1);
    CALL(cudaLogsDumpToMemory(&at, text, &size, 0));
    CHECK(strstr(text, "[cudaLaunchHostFunc_v2] ") != NULL);
    CALL(cudaLogsDumpToFile(NULL, "runtime.txt", 0));
}

int main(void)
{
    cudaStream_t stream;
    setenv("CUDLA_SIM_GPU", "discrete", 1); /* an integrated one has no concurrent access to managed memory */
    CALL(cudaStreamCreate(&stream));
    ranges(stream);
    copies(stream);
    pools();
    calls(stream);
    printf("ok\n");
    return 0;
}
