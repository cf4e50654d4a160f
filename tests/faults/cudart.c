/* Memory, streams, events, a host function. */
#include "sweep.h"

#include "cuda_runtime_api.h"

static void add_one(void *counter) { ++*(int *)counter; }

static int scenario(void)
{
    enum { SIZE = 100000 };
    static unsigned char sent[SIZE], got[SIZE];
    void *memory = NULL, *pinned = NULL;
    cudaStream_t stream = NULL, other = NULL;
    cudaEvent_t event = NULL;
    int counter = 0;
    memset(sent, 42, SIZE);
    memset(got, 0, SIZE);
    TRY(cudaMalloc(&memory, SIZE));
    TRY(cudaMallocHost(&pinned, SIZE));
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaStreamCreate(&other));
    TRY(cudaEventCreate(&event));
    if (GOOD) {
        TRY(cudaMemcpyAsync(memory, sent, SIZE, cudaMemcpyHostToDevice, stream));
        TRY(cudaEventRecord(event, stream));
        TRY(cudaStreamWaitEvent(other, event, 0));
        TRY(cudaMemcpyAsync(pinned, memory, SIZE, cudaMemcpyDeviceToHost, other));
        TRY(cudaLaunchHostFunc(other, add_one, &counter));
        TRY(cudaStreamSynchronize(other));
        TRY(cudaMemcpy(got, memory, SIZE, cudaMemcpyDeviceToHost));
        TRY(cudaGetLastError());
    }
    int const wrong = GOOD && (memcmp(sent, got, SIZE) != 0 || memcmp(sent, pinned, SIZE) != 0 ||
                               counter != 1);
    if (!GOOD)
        cudaDeviceReset(); /* asynchronous failures last until then */
    else {
        TRY(cudaEventDestroy(event));
        TRY(cudaStreamDestroy(stream));
        TRY(cudaStreamDestroy(other));
        TRY(cudaFreeHost(pinned));
        TRY(cudaFree(memory));
        if (!GOOD)
            cudaDeviceReset();
    }
    cudaGetLastError();
    return wrong ? WRONG : first_status;
}
