/* Arrays, and what texture and surface objects know of them. */
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

enum { WIDTH = 6, HEIGHT = 4, BYTES = WIDTH * HEIGHT };

static uint8_t picture[HEIGHT][WIDTH], back[HEIGHT][WIDTH];

static cudaArray_t filled(unsigned int flags)
{
    struct cudaChannelFormatDesc format = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    cudaArray_t array;
    CALL(cudaMallocArray(&array, &format, WIDTH, HEIGHT, flags));
    CALL(cudaMemcpy2DToArray(array, 0, 0, picture, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    return array;
}

static void described(cudaArray_t array)
{
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent;
    unsigned int flags;
    CALL(cudaArrayGetInfo(&format, &extent, &flags, array));
    CHECK(extent.width == WIDTH && extent.height == HEIGHT && extent.depth == 0);
    CHECK(flags == cudaArraySurfaceLoadStore);
    CALL(cudaGetChannelDesc(&format, array));
    CHECK(format.x == 8 && format.y == 0 && format.f == cudaChannelFormatKindUnsigned);
}

static void copies(cudaArray_t array)
{
    const cudaStream_t stream = NULL;
    cudaArray_t other = filled(0);
    CALL(cudaMemcpyFromArray(back, array, 0, 0, BYTES, cudaMemcpyDeviceToHost));
    CHECK(memcmp(back, picture, BYTES) == 0);
    /* The upper left corner of one becomes the lower right one of the other. */
    CALL(cudaMemcpy2DArrayToArray(other, 3, 2, array, 0, 0, 3, 2, cudaMemcpyDeviceToDevice));
    CALL(cudaMemcpy2DFromArrayAsync(back, WIDTH, other, 0, 0, WIDTH, HEIGHT,
                                    cudaMemcpyDeviceToHost, stream));
    CALL(cudaStreamSynchronize(stream));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            CHECK(back[y][x] == (x < 3 || y < 2 ? picture[y][x] : picture[y - 2][x - 3]));
    CALL(cudaMemcpy2DToArrayAsync(other, 0, 0, picture, WIDTH, WIDTH, HEIGHT,
                                  cudaMemcpyHostToDevice, stream));
    CALL(cudaMemcpyFromArray(back, other, 0, 0, BYTES, cudaMemcpyDeviceToHost));
    CHECK(memcmp(back, picture, BYTES) == 0);
    CALL(cudaFreeArray(other));
}

static void objects(cudaArray_t array)
{
    struct cudaResourceDesc resource, found;
    struct cudaTextureDesc way, found_way;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    memset(&resource, 0, sizeof resource);
    memset(&way, 0, sizeof way);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    way.addressMode[0] = way.addressMode[1] = cudaAddressModeClamp;
    way.readMode = cudaReadModeNormalizedFloat;
    CALL(cudaCreateTextureObject(&texture, &resource, &way, NULL));
    CALL(cudaGetTextureObjectResourceDesc(&found, texture));
    CHECK(found.resType == cudaResourceTypeArray && found.res.array.array == array);
    CALL(cudaGetTextureObjectTextureDesc(&found_way, texture));
    CHECK(found_way.addressMode[1] == cudaAddressModeClamp);
    CHECK(found_way.readMode == cudaReadModeNormalizedFloat);
    CALL(cudaDestroyTextureObject(texture));
    CALL(cudaCreateSurfaceObject(&surface, &resource));
    CALL(cudaGetSurfaceObjectResourceDesc(&found, surface));
    CHECK(found.res.array.array == array);
    CALL(cudaDestroySurfaceObject(surface));
}

int main(void)
{
    for (int i = 0; i < BYTES; i++)
        (&picture[0][0])[i] = (uint8_t)(i + 1);
    cudaArray_t array = filled(cudaArraySurfaceLoadStore);
    described(array);
    copies(array);
    objects(array);
    CALL(cudaFreeArray(array));
    printf("ok\n");
    return 0;
}
