/* Planes of a picture: what a program asks of memory that it was handed, and how it tells a kernel
   about them. The simulator has plain memory only, and says so. */
#include <cupva_host.h>
#include <cupva_types.h>

#include <string.h>

#include "check.h"

enum { WIDTH = 64, HEIGHT = 48, PITCH = 128 };

int main(void)
{
    void *memory;
    cupvaError_t error;
    cupvaPointerAttributes_t pointer;
    CHECK(CupvaMemAlloc(&memory, WIDTH * HEIGHT, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM) ==
          CUPVA_ERROR_NONE);

    /* Memory of CupvaMemAlloc has no planes. */
    CHECK(CupvaMemGetPointerAttributes(memory, &pointer) == CUPVA_ERROR_NONE);
    CHECK(pointer.bufferType == CUPVA_RAW && pointer.size == WIDTH * HEIGHT);
    cupvaSurfaceAttributes_t surface;
    memset(&surface, 0, sizeof surface);
    error = CupvaMemGetSurfaceAttributes(memory, &surface);
    CHECK(error == CUPVA_INVALID_ARGUMENT && surface.numPlanes == 0);

    /* A kernel counts in pixels, here of 2 bytes. */
    surface.format = CUPVA_PITCH_LINEAR;
    surface.numPlanes = 2;
    surface.planes[0] = (cupvaPlaneInfo_t){
        .linePitch = PITCH, .widthInBytes = WIDTH, .height = HEIGHT};
    surface.planes[1] = (cupvaPlaneInfo_t){
        .offset = PITCH * HEIGHT, .linePitch = PITCH, .widthInBytes = WIDTH / 2,
        .height = HEIGHT / 2};
    struct PlanarGeometry geometry;
    memset(&geometry, 0xff, sizeof geometry);
    error = CupvaMemConvertToGeometry(&surface, 2, &geometry);
    CHECK(error == CUPVA_ERROR_NONE && geometry.numPlanes == 2);
    CHECK(geometry.widths[0] == WIDTH / 2 && geometry.widths[1] == WIDTH / 4);
    CHECK(geometry.heights[0] == HEIGHT && geometry.heights[1] == HEIGHT / 2);
    CHECK(geometry.linePitches[0] == PITCH / 2 && geometry.linePitches[1] == PITCH / 2);
    CHECK(geometry.planeOffsets[0] == 0 && geometry.planeOffsets[1] == PITCH * HEIGHT / 2);
    CHECK(geometry.widths[2] == 0 && geometry.planeOffsets[GSDF_MAX_NUM_PLANES - 1] == 0);
    CHECK(geometry.padding[14] == 0 && sizeof geometry % 4 == 0);

    /* What pixels cannot say, or the structure cannot hold. */
    CHECK(CupvaMemConvertToGeometry(&surface, 0, &geometry) == CUPVA_INVALID_ARGUMENT);
    CHECK(CupvaMemConvertToGeometry(&surface, 3, &geometry) == CUPVA_INVALID_ARGUMENT);
    CHECK(CupvaMemConvertToGeometry(&surface, 2, NULL) == CUPVA_INVALID_ARGUMENT);
    CHECK(CupvaMemConvertToGeometry(NULL, 2, &geometry) == CUPVA_INVALID_ARGUMENT);
    surface.planes[1].height = 65536;
    CHECK(CupvaMemConvertToGeometry(&surface, 2, &geometry) == CUPVA_INVALID_ARGUMENT);
    surface.numPlanes = CUPVA_SURFACE_ATTRIBUTES_MAX_NUM_PLANES + 1;
    CHECK(CupvaMemConvertToGeometry(&surface, 2, &geometry) == CUPVA_INVALID_ARGUMENT);
    CHECK(geometry.numPlanes == 2);

    CHECK(CupvaMemFree(memory) == CUPVA_ERROR_NONE);
    puts("ok");
    return 0;
}
