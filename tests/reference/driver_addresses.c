/* What an address is, pools that it may come from, and hints about it. */
#include <cuda.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

enum { SIZE = 4096 };

static CUcontext context;

static void attributes(void)
{
    CUdeviceptr memory, base;
    unsigned int kind = 0, on = 1;
    int managed = -1, ordinal = -1, outside = 5;
    size_t size = 0;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                    CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *answers[] = {&size, &base, &managed, &ordinal};
    CALL(cuMemAlloc(&memory, SIZE));
    CALL(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 5));
    CHECK(kind == CU_MEMORYTYPE_DEVICE);
    CALL(cuPointerGetAttributes(4, wanted, answers, memory + 5));
    CHECK(size == SIZE && base == memory && managed == 0 && ordinal == 0);
    for (int wish = 1; wish >= 0; wish--) {
        on = wish;
        CALL(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
        managed = 5;
        CALL(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
        CHECK(managed == wish);
    }
    /* A variable of the host: one function refuses it, the other says so by its answers. */
    CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&outside)
          == CUDA_ERROR_INVALID_VALUE);
    CALL(cuPointerGetAttributes(4, wanted, answers, (uintptr_t)&outside));
    CHECK(size == 0 && base == 0 && ordinal == CU_DEVICE_INVALID);
    CALL(cuMemFree(memory));
}

static void pool(CUstream stream)
{
    CUmemoryPool usual, own, now, of_memory;
    CUmemPoolProps props;
    CUdeviceptr memory;
    cuuint64_t used = 0, threshold = 1 << 20;
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CALL(cuDeviceGetDefaultMemPool(&usual, 0));
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CALL(cuMemPoolCreate(&own, &props));
    CALL(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    CALL(cuMemAllocFromPoolAsync(&memory, SIZE, own, stream));
    CALL(cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
    CHECK(of_memory == own);
    CALL(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used == SIZE);
    CALL(cuMemFreeAsync(memory, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemPoolTrimTo(own, 0));
    CUmemAccessDesc access = {props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CALL(cuMemPoolSetAccess(own, &access, 1));
    CALL(cuMemPoolGetAccess(&flags, own, &props.location));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CALL(cuDeviceSetMemPool(0, own));
    CALL(cuDeviceGetMemPool(&now, 0));
    CHECK(now == own);
    CALL(cuMemPoolDestroy(own));
    CALL(cuDeviceGetMemPool(&now, 0));
    CHECK(now == usual);
}

static void hints(CUstream stream)
{
    CUdeviceptr managed, other;
    uint8_t byte = 0;
    CALL(cuMemAllocManaged(&managed, SIZE, CU_MEM_ATTACH_HOST));
    CALL(cuMemAdvise(managed, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, CU_DEVICE_CPU));
    CALL(cuMemPrefetchAsync(managed, SIZE, CU_DEVICE_CPU, stream));
    CALL(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE));
    CALL(cuStreamSynchronize(stream));
    memset((void *)(uintptr_t)managed, 3, SIZE);
    CALL(cuMemAlloc(&other, SIZE));
    CALL(cuMemcpyPeer(other, context, managed, context, SIZE));
    CALL(cuMemcpyPeerAsync(managed, context, other, context, SIZE, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(&byte, other + SIZE - 1, 1));
    CHECK(byte == 3);
    CALL(cuMemFree(managed));
    CALL(cuMemFree(other));
}

int main(void)
{
    CUstream stream;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    attributes();
    pool(stream);
    hints(stream);
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
