/* The driver API's memory: sets of every width, rows, and memory of the host. */
#include <cuda.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

enum { WIDTH = 4, HEIGHT = 3 };

static CUstream stream;

static void copies(void)
{
    uint32_t words[WIDTH] = {1, 2, 3, 4}, back[WIDTH];
    CUdeviceptr from, to;
    CALL(cuMemAlloc(&from, sizeof words));
    CALL(cuMemAlloc(&to, sizeof words));
    CALL(cuMemcpyHtoD(from, words, sizeof words));
    CALL(cuMemcpyDtoD(to, from, sizeof words));
    CALL(cuMemsetD8Async(from, 0xab, sizeof words, stream));
    CALL(cuMemcpyDtoH(back, to, sizeof words));
    CHECK(memcmp(back, words, sizeof words) == 0);
    CALL(cuMemsetD16Async(from, 0x1234, WIDTH, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(back, from, sizeof words));
    CHECK(back[0] == 0x12341234 && back[1] == 0x12341234 && back[2] == 0xabababab);
    CALL(cuMemFree(from));
    CALL(cuMemFree(to));
}

/* The middle of a picture of three rows, whose pitch is the device's choice. */
static void rows(void)
{
    CUdeviceptr memory;
    size_t pitch;
    uint32_t row[WIDTH];
    CALL(cuMemAllocPitch(&memory, &pitch, sizeof row, HEIGHT, sizeof row[0]));
    CALL(cuMemsetD8(memory, 0, pitch * HEIGHT));
    CALL(cuMemsetD2D32(memory, pitch, 0x01020304, WIDTH, HEIGHT));
    CALL(cuMemsetD2D16(memory + pitch, pitch, 0x0506, 2, 1));
    CALL(cuMemsetD2D8(memory + pitch + 4, pitch, 0x07, 4, 1));
    CALL(cuMemcpyDtoH(row, memory + pitch, sizeof row));
    CHECK(row[0] == 0x05060506 && row[1] == 0x07070707 && row[2] == 0x01020304);
    CALL(cuMemsetD2D32Async(memory, pitch, 9, WIDTH, HEIGHT, stream));
    CALL(cuMemsetD2D16Async(memory, pitch, 8, 1, HEIGHT, stream));
    CALL(cuMemsetD2D8Async(memory, pitch, 7, 1, HEIGHT, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyDtoH(row, memory + 2 * pitch, sizeof row));
    CHECK(row[0] == 7 && row[1] == 9);
    CALL(cuMemFree(memory));
}

/* The device reads memory of the host where it lies. */
static void host(void)
{
    static uint8_t page[4096] __attribute__((aligned(4096)));
    void *pinned;
    CUdeviceptr seen;
    uint8_t byte;
    CALL(cuMemAllocHost(&pinned, 64));
    memset(pinned, 5, 64);
    CALL(cuMemHostGetDevicePointer(&seen, pinned, 0));
    CALL(cuMemcpyDtoH(&byte, seen + 63, 1));
    CHECK(byte == 5);
    CALL(cuMemFreeHost(pinned));
    CALL(cuMemHostRegister(page, sizeof page, CU_MEMHOSTREGISTER_DEVICEMAP));
    CALL(cuMemHostGetDevicePointer(&seen, page, 0));
    CALL(cuMemsetD8(seen, 6, sizeof page));
    CHECK(page[0] == 6 && page[4095] == 6);
    CALL(cuMemHostUnregister(page));
}

int main(void)
{
    CUcontext context;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    copies();
    rows();
    host();
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
