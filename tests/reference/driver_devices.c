/* The driver API's devices and contexts. */
#include <cuda.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static void start(void)
{
    const char *text;
    int version, count;
    CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
    CALL(cuGetErrorString(CUDA_ERROR_NOT_INITIALIZED, &text));
    CHECK(strlen(text) > 0);
    CALL(cuInit(0));
    CALL(cuDriverGetVersion(&version));
    CHECK(version >= CUDA_VERSION);
    CALL(cuDeviceGetCount(&count));
    CHECK(count == 1);
}

static void device(CUdevice device)
{
    char name[64];
    int value;
    size_t bytes;
    CALL(cuDeviceGetName(name, sizeof name, device));
    CHECK(strlen(name) > 0);
    CALL(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(value == 8);
    CALL(cuDeviceTotalMem(&bytes, device));
    CHECK(bytes > 1u << 30);
}

static void contexts(CUdevice device)
{
    CUcontext primary, context, current, popped;
    CUdevice of;
    CALL(cuDevicePrimaryCtxRetain(&primary, device));
    CALL(cuCtxSetCurrent(primary));
    CALL(cuCtxGetDevice(&of));
    CHECK(of == device);
    /* A new context is current for the thread that made it, above the one that was. */
    CALL(cuCtxCreate(&context, CU_CTX_SCHED_AUTO, device));
    CALL(cuCtxGetCurrent(&current));
    CHECK(current == context);
    CALL(cuCtxPopCurrent(&popped));
    CHECK(popped == context);
    CALL(cuCtxGetCurrent(&current));
    CHECK(current == primary);
    CALL(cuCtxPushCurrent(context));
    CALL(cuCtxDestroy(context));
    CALL(cuDevicePrimaryCtxRelease(device));
}

/* A stream and an event know their context; one is current for what is made and for default streams. */
static void without_a_current_context(CUdevice device)
{
    CUcontext primary;
    CUstream stream;
    CUevent before, after;
    CUdeviceptr memory;
    size_t left = 0, all = 0;
    float milliseconds = -1;
    CALL(cuDevicePrimaryCtxRetain(&primary, device));
    CALL(cuCtxSetCurrent(primary));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(cuEventCreate(&before, CU_EVENT_DEFAULT));
    CALL(cuEventCreate(&after, CU_EVENT_DEFAULT));
    CALL(cuMemGetInfo(&left, NULL));
    CALL(cuMemGetInfo(NULL, &all));
    CHECK(left > 0 && left <= all);
    CHECK(cuMemGetInfo(NULL, NULL) == CUDA_ERROR_INVALID_VALUE);
    CALL(cuCtxSetCurrent(NULL));
    CALL(cuEventRecord(before, stream));
    CALL(cuMemAllocAsync(&memory, 64, stream));
    CALL(cuMemFreeAsync(memory, stream));
    CALL(cuEventRecord(after, stream));
    CALL(cuStreamWaitEvent(stream, after, 0));
    CALL(cuEventSynchronize(after));
    CALL(cuEventQuery(before));
    CALL(cuEventElapsedTime(&milliseconds, before, after));
    CHECK(milliseconds >= 0);
    CALL(cuStreamSynchronize(stream));
    CALL(cuStreamQuery(stream));
    CHECK(cuStreamSynchronize(NULL) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuMemAllocAsync(&memory, 64, NULL) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuStreamCreate(&stream, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CALL(cuEventDestroy(before));
    CALL(cuEventDestroy(after));
    CALL(cuStreamDestroy(stream));
    CALL(cuDevicePrimaryCtxRelease(device));
}

/* What the runtime's static library and other loaders ask for, by name and CUDA version. */
static void entry_points(void)
{
    CUdriverProcAddressQueryResult result;
    CUresult (*total)(size_t *, CUdevice) = NULL;
    const void *table = NULL;
    const CUuuid nobody = {{0}};
    size_t bytes = 0, same = 0;
    CALL(cuGetProcAddress("cuDeviceTotalMem", (void **)&total, 3020,
                          CU_GET_PROC_ADDRESS_DEFAULT, &result));
    CHECK(result == CU_GET_PROC_ADDRESS_SUCCESS);
    CALL(total(&bytes, 0));
    CALL(cuDeviceTotalMem(&same, 0));
    CHECK(bytes == same);
    CHECK(cuGetExportTable(&table, &nobody) != CUDA_SUCCESS);
}

int main(void)
{
    start();
    device(0);
    contexts(0);
    without_a_current_context(0);
    entry_points();
    printf("ok\n");
    return 0;
}
