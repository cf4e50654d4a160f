/* Adds two vectors. */
#include <cupva_device.h>

#include "two_vpus.h"

VMEM(A, int32_t, first, RDF_DOUBLE(int32_t, TILE, 1));
VMEM(B, int32_t, second, RDF_DOUBLE(int32_t, TILE, 1));
VMEM(C, int32_t, sum, RDF_DOUBLE(int32_t, TILE, 1));
VMEM_RDF_UNIFIED(A, first_handler);
VMEM_RDF_UNIFIED(B, second_handler);
VMEM_RDF_UNIFIED(C, sum_handler);

CUPVA_VPU_MAIN()
{
    cupvaRasterDataFlowOpen(first_handler, first);
    cupvaRasterDataFlowOpen(second_handler, second);
    cupvaRasterDataFlowOpen(sum_handler, sum);
    for (int number = 0; number < TILES; number++) {
        int32_t const *a = (int32_t const *)cupvaRasterDataFlowAcquire(first_handler);
        int32_t const *b = (int32_t const *)cupvaRasterDataFlowAcquire(second_handler);
        int32_t *to = (int32_t *)cupvaRasterDataFlowAcquire(sum_handler);
        for (int i = 0; i < TILE; i++)
            to[i] = a[i] + b[i];
        cupvaRasterDataFlowRelease(first_handler);
        cupvaRasterDataFlowRelease(second_handler);
        cupvaRasterDataFlowRelease(sum_handler);
    }
    cupvaRasterDataFlowClose(first_handler);
    cupvaRasterDataFlowClose(second_handler);
    cupvaRasterDataFlowClose(sum_handler);
    return 0;
}
