/* The driver API's arrays: pieces in and out, rectangles, volumes, surfaces. */
#include <cuda.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

enum { WIDTH = 8, HEIGHT = 2, DEPTH = 3 };

static CUstream stream;

/* Arrays of one row take offsets in bytes. */
static void pieces(void)
{
    const CUDA_ARRAY_DESCRIPTOR row = {WIDTH, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    const uint8_t letters[WIDTH] = "abcdefgh";
    uint8_t back[WIDTH];
    CUarray one, other;
    CUdeviceptr memory;
    CALL(cuArrayCreate(&one, &row));
    CALL(cuArrayCreate(&other, &row));
    CALL(cuMemAlloc(&memory, WIDTH));
    CALL(cuMemcpyHtoA(one, 0, letters, WIDTH));
    CALL(cuMemcpyAtoA(other, 4, one, 0, 4));
    CALL(cuMemcpyAtoA(other, 0, one, 4, 4));
    CALL(cuMemcpyAtoH(back, other, 0, WIDTH));
    CHECK(memcmp(back, "efghabcd", WIDTH) == 0);
    CALL(cuMemcpyAtoD(memory, other, 2, 6));
    CALL(cuMemcpyDtoA(one, 1, memory, 6));
    CALL(cuMemcpyAtoHAsync(back, one, 0, WIDTH, stream));
    CALL(cuStreamSynchronize(stream));
    CHECK(memcmp(back, "aghabcdh", WIDTH) == 0);
    CALL(cuMemcpyHtoAAsync(one, 0, "A", 1, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemcpyAtoH(back, one, 0, 1));
    CHECK(back[0] == 'A');
    CALL(cuMemFree(memory));
    CALL(cuArrayDestroy(one));
    CALL(cuArrayDestroy(other));
}

static void rectangles(void)
{
    const CUDA_ARRAY_DESCRIPTOR picture = {WIDTH, HEIGHT, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    uint8_t from[HEIGHT][WIDTH], to[HEIGHT][WIDTH];
    CUarray array;
    CUDA_MEMCPY2D in, out;
    memset(from, 1, sizeof from);
    memset(to, 0, sizeof to);
    memset(&in, 0, sizeof in);
    CALL(cuArrayCreate(&array, &picture));
    in.srcMemoryType = CU_MEMORYTYPE_HOST;
    in.srcHost = from;
    in.srcPitch = WIDTH;
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    in.dstArray = array;
    in.WidthInBytes = WIDTH;
    in.Height = HEIGHT;
    CALL(cuMemcpy2DUnaligned(&in));
    memset(&out, 0, sizeof out);
    out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    out.srcArray = array;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = to;
    out.dstXInBytes = 1;
    out.dstPitch = WIDTH;
    out.WidthInBytes = 3;
    out.Height = HEIGHT;
    CALL(cuMemcpy2DAsync(&out, stream));
    CALL(cuStreamSynchronize(stream));
    CHECK(to[0][0] == 0 && to[0][1] == 1 && to[1][3] == 1 && to[1][4] == 0);
    CALL(cuArrayDestroy(array));
}

static void volume(void)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {WIDTH, HEIGHT, DEPTH, CU_AD_FORMAT_UNSIGNED_INT8, 1,
                                     CUDA_ARRAY3D_SURFACE_LDST};
    uint8_t from[DEPTH][HEIGHT][WIDTH], to[DEPTH][HEIGHT][WIDTH];
    CUarray array;
    CUDA_MEMCPY3D in, out;
    CUDA_RESOURCE_DESC resource, found;
    CUsurfObject surface;
    for (int i = 0; i < WIDTH * HEIGHT * DEPTH; i++)
        (&from[0][0][0])[i] = (uint8_t)i;
    CALL(cuArray3DCreate(&array, &shape));
    memset(&in, 0, sizeof in);
    in.srcMemoryType = CU_MEMORYTYPE_HOST;
    in.srcHost = from;
    in.srcPitch = WIDTH;
    in.srcHeight = HEIGHT;
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    in.dstArray = array;
    in.WidthInBytes = WIDTH;
    in.Height = HEIGHT;
    in.Depth = DEPTH;
    CALL(cuMemcpy3DAsync(&in, stream));
    CALL(cuStreamSynchronize(stream));
    memset(&out, 0, sizeof out);
    out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    out.srcArray = array;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = to;
    out.dstPitch = WIDTH;
    out.dstHeight = HEIGHT;
    out.WidthInBytes = WIDTH;
    out.Height = HEIGHT;
    out.Depth = DEPTH;
    CALL(cuMemcpy3D(&out));
    CHECK(memcmp(from, to, sizeof from) == 0);
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = array,
                               .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to,
                               .WidthInBytes = WIDTH, .Height = HEIGHT, .Depth = 1};
    CALL(cuCtxGetCurrent(&peer.srcContext));
    peer.dstContext = peer.srcContext;
    memset(to, 0, sizeof to);
    CALL(cuMemcpy3DPeer(&peer));
    CHECK(memcmp(from, to, sizeof from[0]) == 0 && to[1][0][1] == 0);
    peer.Depth = DEPTH;
    CALL(cuMemcpy3DPeerAsync(&peer, stream));
    CALL(cuStreamSynchronize(stream));
    CHECK(memcmp(from, to, sizeof from) == 0);
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CALL(cuSurfObjectCreate(&surface, &resource));
    CALL(cuSurfObjectGetResourceDesc(&found, surface));
    CHECK(found.res.array.hArray == array);
    CALL(cuSurfObjectDestroy(surface));
    CALL(cuArrayDestroy(array));
}

int main(void)
{
    CUcontext context;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    pieces();
    rectangles();
    volume();
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
