/* Streams and events: what they are, and whether they are done. */
#include <cuda_runtime_api.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

static void properties(void)
{
    int least, greatest, priority;
    unsigned int flags;
    cudaStream_t stream, second;
    CALL(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CALL(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    CALL(cudaStreamCreate(&second));
    CALL(cudaStreamGetPriority(stream, &priority));
    CHECK(priority == greatest);
    CALL(cudaStreamGetFlags(stream, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    CALL(cudaStreamDestroy(stream));
    CALL(cudaStreamDestroy(second));
}

static void times(void)
{
    cudaEvent_t begin, end;
    float ms = -1;
    CALL(cudaEventCreate(&begin));
    CALL(cudaEventCreate(&end));
    CALL(cudaEventRecord(begin, NULL));
    CALL(cudaEventRecordWithFlags(end, NULL, cudaEventRecordDefault));
    CALL(cudaEventSynchronize(end));
    CALL(cudaEventQuery(end));
    CALL(cudaEventElapsedTime_v2(&ms, begin, end));
    CHECK(ms >= 0);
    CALL(cudaEventDestroy(begin));
    CALL(cudaEventDestroy(end));
}

int main(void)
{
    properties();
    times();
    printf("ok\n");
    return 0;
}
