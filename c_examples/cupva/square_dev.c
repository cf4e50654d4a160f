/* Squares the numbers of one half. */
#include <cupva_device.h>

#include "two_vpus.h"

VMEM(A, int32_t, input, RDF_DOUBLE(int32_t, TILE, 1));
VMEM(B, int32_t, output, RDF_DOUBLE(int32_t, TILE, 1));
VMEM_RDF_UNIFIED(A, input_handler);
VMEM_RDF_UNIFIED(B, output_handler);

CUPVA_VPU_MAIN()
{
    cupvaRasterDataFlowOpen(input_handler, input);
    cupvaRasterDataFlowOpen(output_handler, output);
    for (int number = 0; number < TILES; number++) {
        int32_t const *from = (int32_t const *)cupvaRasterDataFlowAcquire(input_handler);
        int32_t *to = (int32_t *)cupvaRasterDataFlowAcquire(output_handler);
        for (int i = 0; i < TILE; i++)
            to[i] = from[i] * from[i];
        cupvaRasterDataFlowRelease(input_handler);
        cupvaRasterDataFlowRelease(output_handler);
    }
    cupvaRasterDataFlowClose(input_handler);
    cupvaRasterDataFlowClose(output_handler);
    return 0;
}
