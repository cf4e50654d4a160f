/* Memory of the host and of the device: registered, managed, pitched, in three dimensions. */
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

enum { WIDTH = 5, HEIGHT = 3, DEPTH = 2 };

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
    CALL(cudaMemAdvise(memory, size, cudaMemAdviseSetReadMostly, 0));
    /* Not on a board: its GPU pages nothing in. */
    CHECK(cudaMemPrefetchAsync(memory, size, 0, stream) == cudaErrorInvalidDevice);
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

static void volume(void)
{
    struct cudaExtent extent = {WIDTH, HEIGHT, DEPTH}, corner = {1, 1, 1};
    struct cudaPitchedPtr memory;
    uint8_t host[DEPTH][HEIGHT][WIDTH];
    CALL(cudaMalloc3D(&memory, extent));
    CHECK(memory.pitch >= WIDTH && memory.ysize == HEIGHT);
    CALL(cudaMemset3D(memory, 1, extent));
    CALL(cudaMemset3DAsync(memory, 2, corner, NULL));
    struct cudaMemcpy3DParms copy = {0};
    copy.srcPtr = memory;
    copy.dstPtr = (struct cudaPitchedPtr){host, WIDTH, WIDTH, HEIGHT};
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CALL(cudaMemcpy3DAsync(&copy, NULL));
    CALL(cudaDeviceSynchronize());
    for (int i = 0; i < WIDTH * HEIGHT * DEPTH; i++)
        CHECK((&host[0][0][0])[i] == (i == 0 ? 2 : 1));
    CALL(cudaFree(memory.ptr));
}

/* With one device both are the same one. */
static void devices(void)
{
    const char text[] = "over there";
    char back[sizeof text];
    void *from, *to;
    CALL(cudaMalloc(&from, sizeof text));
    CALL(cudaMalloc(&to, sizeof text));
    CALL(cudaMemcpy(from, text, sizeof text, cudaMemcpyHostToDevice));
    CALL(cudaMemcpyPeer(to, 0, from, 0, sizeof text));
    CALL(cudaMemset(from, 0, sizeof text));
    CALL(cudaMemcpyPeerAsync(from, 0, to, 0, sizeof text, NULL));
    CALL(cudaMemcpy(back, from, sizeof text, cudaMemcpyDeviceToHost));
    CHECK(strcmp(back, text) == 0);
    CALL(cudaFree(from));
    CALL(cudaFree(to));
}

int main(void)
{
    registered();
    amounts();
    managed();
    rows();
    volume();
    devices();
    printf("ok\n");
    return 0;
}
