/* Memory of the host and of the device: registered, managed, pitched. */
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

enum { WIDTH = 5, HEIGHT = 3 };

static void registered(void)
{
    static uint8_t page[4096] __attribute__((aligned(4096)));
    unsigned int flags = 0;
    CALL(cudaHostRegister(page, sizeof page, cudaHostRegisterPortable));
    CALL(cudaHostGetFlags(&flags, page));
    CHECK((flags & cudaHostRegisterPortable) != 0);
    CALL(cudaHostUnregister(page));
    CHECK(cudaHostUnregister(page) == cudaErrorHostMemoryNotRegistered);
}

static void amounts(void)
{
    size_t free_bytes = 0, total = 0;
    CALL(cudaMemGetInfo(&free_bytes, &total));
    CHECK(0 < free_bytes && free_bytes <= total);
}

static void managed(void)
{
    const size_t size = 4096;
    void *memory;
    cudaStream_t stream;
    CALL(cudaMallocManaged(&memory, size, cudaMemAttachHost));
    CALL(cudaStreamCreate(&stream));
    CALL(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
    CALL(cudaStreamSynchronize(stream));
    memset(memory, 1, size); /* the host may again */
    CALL(cudaStreamDestroy(stream));
    CALL(cudaFree(memory));
}

static void rows(void)
{
    size_t pitch = 0;
    void *memory;
    uint8_t host[HEIGHT][WIDTH];
    CALL(cudaMallocPitch(&memory, &pitch, WIDTH, HEIGHT));
    CALL(cudaMemset(memory, 0, pitch * HEIGHT));
    CALL(cudaMemset2D(memory, pitch, 7, WIDTH, HEIGHT));
    CALL(cudaMemset2DAsync(memory, pitch, 8, WIDTH - 1, HEIGHT - 1, NULL));
    CALL(cudaMemcpy2D(host, WIDTH, memory, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            CHECK(host[y][x] == (y < HEIGHT - 1 && x < WIDTH - 1 ? 8 : 7));
    CALL(cudaFree(memory));
}

int main(void)
{
    registered();
    amounts();
    managed();
    rows();
    printf("ok\n");
    return 0;
}
