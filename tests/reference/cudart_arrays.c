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
    CHECK(flags == cudaArrayDefault);
    CALL(cudaGetChannelDesc(&format, array));
    CHECK(format.x == 8 && format.y == 0 && format.f == cudaChannelFormatKindUnsigned);
}

static void copies(cudaArray_t array)
{
    const cudaStream_t stream = NULL;
    cudaArray_t other = filled(0);
    CALL(cudaMemcpy2DFromArray(back, WIDTH, array, 0, 0, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    CHECK(memcmp(back, picture, BYTES) == 0);
    /* The upper left corner becomes the lower right one. */
    CALL(cudaMemcpy2DToArray(other, WIDTH - 3, HEIGHT - 2, picture, WIDTH, 3, 2,
                             cudaMemcpyHostToDevice));
    CALL(cudaMemcpy2DFromArrayAsync(back, WIDTH, other, 0, 0, WIDTH, HEIGHT,
                                    cudaMemcpyDeviceToHost, stream));
    CALL(cudaStreamSynchronize(stream));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            CHECK(back[y][x] == (x < WIDTH - 3 || y < HEIGHT - 2
                                     ? picture[y][x]
                                     : picture[y - HEIGHT + 2][x - WIDTH + 3]));
    CALL(cudaMemcpy2DToArrayAsync(other, 0, 0, picture, WIDTH, WIDTH, HEIGHT,
                                  cudaMemcpyHostToDevice, stream));
    CALL(cudaMemcpy2DFromArray(back, WIDTH, other, 0, 0, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    CHECK(memcmp(back, picture, BYTES) == 0);
    CALL(cudaFreeArray(other));
}

static void objects(cudaArray_t array)
{
    struct cudaResourceDesc resource;
    struct cudaTextureDesc way;
    cudaTextureObject_t texture;
    memset(&resource, 0, sizeof resource);
    memset(&way, 0, sizeof way);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    way.addressMode[0] = way.addressMode[1] = cudaAddressModeClamp;
    way.readMode = cudaReadModeNormalizedFloat;
    CALL(cudaCreateTextureObject(&texture, &resource, &way, NULL));
    CALL(cudaDestroyTextureObject(texture));
}

int main(void)
{
    for (int i = 0; i < BYTES; i++)
        (&picture[0][0])[i] = (uint8_t)(i + 1);
    cudaArray_t array = filled(cudaArrayDefault);
    described(array);
    copies(array);
    objects(array);
    CALL(cudaFreeArray(array));
    printf("ok\n");
    return 0;
}
