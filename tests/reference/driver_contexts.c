/* Contexts that a program makes for itself: what is theirs, and goes with them. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdio.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static CUcontext first, second;

static void are_told_apart(CUdevice device)
{
    CUcontext current, primary;
    unsigned int flags, version;
    int active;
    CALL(cuCtxCreate(&first, CU_CTX_SCHED_BLOCKING_SYNC, device));
    CALL(cuCtxCreate(&second, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST, device));
    CHECK(first != second);
    /* The primary context is not touched. */
    CALL(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active == 0);
    CALL(cuDevicePrimaryCtxRetain(&primary, device));
    CHECK(primary != first && primary != second);
    CALL(cuDevicePrimaryCtxRelease(device));
    CALL(cuCtxGetCurrent(&current));
    CHECK(current == second);
    CALL(cuCtxGetFlags(&flags));
    CHECK((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_YIELD);
    CALL(cuCtxGetApiVersion(first, &version));
    CHECK(version >= 3010);
    CALL(cuCtxPopCurrent(&current));
    CHECK(current == second);
    CALL(cuCtxGetCurrent(&current));
    CHECK(current == first);
    CALL(cuCtxGetFlags(&flags));
    CHECK((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC);
    CHECK(cuCtxCreate(&current, 1u << 20, device) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuCtxCreate(&current, 0, 7) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(cuCtxCreate(NULL, 0, device) == CUDA_ERROR_INVALID_VALUE);
}

static void with_parameters(CUdevice device)
{
    CUcontext made, current;
    CALL(cuCtxCreate_v4(&made, NULL, 0, device));
    CALL(cuCtxDestroy(made));
    CALL(cuCtxGetCurrent(&current));
    CHECK(current == first);
}

/* Each is current in turn; what is made is that one's. */
static void own_what_is_made_in_them(void)
{
    CUstream stream, others;
    CUevent event;
    CUdeviceptr here, there;
    CUcontext of;
    size_t before, with, after, size;
    void *host;
    unsigned char byte = 1;
    CALL(cuMemGetInfo(&before, &size));
    CALL(cuCtxPushCurrent(second));
    CALL(cuStreamCreate(&others, 0));
    CALL(cuMemAlloc(&there, 1 << 20));
    CALL(cuMemAllocHost(&host, 4096));
    CALL(cuCtxPopCurrent(NULL));
    CALL(cuMemAlloc(&here, 1 << 20));
    CALL(cuMemGetInfo(&with, &size));
    CHECK(before - with == 2 << 20); /* they share the device */
    CALL(cuStreamCreate(&stream, 0));
    CALL(cuEventCreate(&event, 0));
    CALL(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, there));
    CHECK(of == second);
    CALL(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, here));
    CHECK(of == first);
    /* An event is recorded in streams of its context, and waited for in any. */
    CHECK(cuEventRecord(event, others) == CUDA_ERROR_INVALID_HANDLE);
    CALL(cuMemsetD8Async(here, 5, 1 << 20, stream));
    CALL(cuEventRecord(event, stream));
    CALL(cuStreamWaitEvent(others, event, 0));
    CALL(cuMemcpyDtoDAsync(there, here, 1 << 20, others));
    CALL(cuStreamSynchronize(others));
    CALL(cuMemcpyDtoH(&byte, there + 4097, 1));
    CHECK(byte == 5);
    CALL(cuCtxDestroy(second)); /* not the current one */
    CALL(cuCtxGetCurrent(&of));
    CHECK(of == first);
    CALL(cuMemGetInfo(&after, &size));
    CHECK(after - with == 1 << 20);
    CHECK(cuStreamQuery(others) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuMemcpyDtoH(&byte, there, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFreeHost(host) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuCtxPushCurrent(second) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxDestroy(second) == CUDA_ERROR_INVALID_CONTEXT);
    /* The first one's are what they were. */
    CALL(cuMemcpyDtoH(&byte, here + 9, 1));
    CHECK(byte == 5);
    CALL(cuEventSynchronize(event));
    CALL(cuStreamSynchronize(stream));
}

/* Where it was current in another thread it stays so, and nothing works there until another one is. */
static void *elsewhere(void *context)
{
    static pthread_barrier_t *meeting;
    CUdeviceptr memory;
    CUcontext current, primary;
    meeting = ((void **)context)[1];
    CALL(cuCtxSetCurrent(((void **)context)[0]));
    pthread_barrier_wait(meeting);
    pthread_barrier_wait(meeting); /* it is destroyed in between */
    CHECK(cuMemAlloc(&memory, 16) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CALL(cuCtxPopCurrent(&current));
    CHECK(cuMemAlloc(&memory, 16) == CUDA_ERROR_INVALID_CONTEXT);
    CALL(cuDevicePrimaryCtxRetain(&primary, 0));
    CALL(cuCtxSetCurrent(primary));
    CHECK(cuCtxDestroy(primary) == CUDA_ERROR_INVALID_CONTEXT);
    CALL(cuMemAlloc(&memory, 16));
    CALL(cuMemFree(memory));
    CALL(cuDevicePrimaryCtxRelease(0));
    return NULL;
}

static void another_thread_has_it(void)
{
    pthread_barrier_t meeting;
    pthread_t thread;
    void *given[] = {first, &meeting};
    CUcontext current;
    CHECK(pthread_barrier_init(&meeting, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, elsewhere, given) == 0);
    pthread_barrier_wait(&meeting);
    CALL(cuCtxDestroy(first));
    CALL(cuCtxGetCurrent(&current));
    CHECK(current == NULL);
    pthread_barrier_wait(&meeting);
    pthread_join(thread, NULL);
}

/* The runtime's calls take the context that is current, too. */
static void the_runtime_s_calls(CUdevice device)
{
    CUcontext made;
    size_t before, after, total;
    void *memory;
    cudaStream_t stream;
    CALL(cuCtxCreate(&made, 0, device));
    CHECK(cudaMemGetInfo(&before, &total) == cudaSuccess);
    CHECK(cudaMalloc(&memory, 1 << 20) == cudaSuccess);
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CALL(cuCtxDestroy(made));
    CHECK(cudaMemGetInfo(&after, &total) == cudaSuccess);
    CHECK(before == after);
    CHECK(cudaStreamQuery(stream) == cudaErrorInvalidResourceHandle);
}

int main(void)
{
    CALL(cuInit(0));
    are_told_apart(0);
    with_parameters(0);
    own_what_is_made_in_them();
    another_thread_has_it();
    the_runtime_s_calls(0);
    puts("ok");
    return 0;
}
