/* Planes of a picture: what a program asks of memory that it was handed. The simulator has plain
   memory only, and says so. */
#include <cupva_host.h>
#include <cupva_types.h>

#include <string.h>

#include "check.h"

enum { WIDTH = 64, HEIGHT = 48 };

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

    surface.format = CUPVA_PITCH_LINEAR;
    surface.numPlanes = 1;
    surface.planes[0] = (cupvaPlaneInfo_t){.linePitch = WIDTH, .widthInBytes = WIDTH,
                                           .height = HEIGHT};
    struct PlanarGeometry geometry;
    error = CupvaMemConvertToGeometry(&surface, 1, &geometry);
    CHECK(error == CUPVA_UNSUPPORTED_FEATURE);

    CHECK(CupvaMemFree(memory) == CUPVA_ERROR_NONE);
    puts("ok");
    return 0;
}
