/* The driver API's streams and events. */
#include <cuda.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

enum { COUNT = 1000 };

int main(void)
{
    CUcontext context;
    CUstream stream, other;
    CUevent begin, end;
    CUdeviceptr memory;
    float ms = -1;
    static unsigned char from[COUNT], to[COUNT];

    for (int i = 0; i < COUNT; i++)
        from[i] = (unsigned char)(i % 251);
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    CALL(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CALL(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    CALL(cuMemAlloc(&memory, COUNT));

    CALL(cuEventRecord(begin, stream));
    CALL(cuMemcpyHtoDAsync(memory, from, COUNT, stream));
    CALL(cuEventRecord(end, stream));
    /* The other stream reads what the first one has written by then. */
    CALL(cuStreamWaitEvent(other, end, CU_EVENT_WAIT_DEFAULT));
    CALL(cuMemcpyDtoHAsync(to, memory, COUNT, other));
    CALL(cuStreamSynchronize(other));
    for (int i = 0; i < COUNT; i++)
        CHECK(to[i] == from[i]);

    CALL(cuEventSynchronize(end));
    CALL(cuEventQuery(end));
    CALL(cuStreamQuery(stream));
    CALL(cuEventElapsedTime(&ms, begin, end));
    CHECK(ms >= 0);

    CALL(cuMemFree(memory));
    CALL(cuEventDestroy(begin));
    CALL(cuEventDestroy(end));
    CALL(cuStreamDestroy(stream));
    CALL(cuStreamDestroy(other));
    CALL(cuDevicePrimaryCtxRelease(0));
    printf("ok\n");
    return 0;
}
