/* Sharpens tile after tile, with two buffers each way and explicit triggers. */
#include <cupva_device.h>

#include "unsharp.h"

VMEM(A, uint8_t, input, RDF_DOUBLE(uint8_t, TILE_WIDTH, TILE_HEIGHT, RADIUS, RADIUS));
VMEM(B, uint8_t, output, RDF_DOUBLE(uint8_t, TILE_WIDTH, TILE_HEIGHT));
VMEM(A, RasterDataFlowHandler, input_handler);
VMEM(B, RasterDataFlowHandler, output_handler);
VMEM(C, int32_t, tiles);

CUPVA_VPU_MAIN()
{
    int const pitch = cupvaRasterDataFlowGetLinePitch(input_handler);
    int const out_pitch = cupvaRasterDataFlowGetLinePitch(output_handler);
    int32_t in = 0, out = 0;

    cupvaRasterDataFlowTrig(input_handler);
    for (int32_t number = 0; number < tiles; number++) {
        cupvaRasterDataFlowSync(input_handler);
        cupvaRasterDataFlowTrig(input_handler); // the next tile; after the last one: nothing
        uint8_t const *from = input + in + RADIUS * pitch + RADIUS;
        for (int y = 0; y < TILE_HEIGHT; y++)
            for (int x = 0; x < TILE_WIDTH; x++)
                output[out + y * out_pitch + x] = sharpened(from + y * pitch + x, pitch);
        in = cupvaRasterDataFlowGetOffset(input_handler, in);
        out = cupvaRasterDataFlowGetOffset(output_handler, out);
        cupvaRasterDataFlowSync(output_handler); // the tile before this one
        cupvaRasterDataFlowTrig(output_handler);
    }
    cupvaRasterDataFlowSync(output_handler);
    return 0;
}
