/* Sums over the channels of a tile as they come in, and sends the result of each place away. */
#include <cupva_device.h>

#include "convolution.h"

VMEM(A, int8_t, input, TDF_DOUBLE(int8_t, TILE_WIDTH, TILE_HEIGHT, TILE_CHANNELS, HALO, HALO));
VMEM(B, int32_t, output, TDF_DOUBLE(int32_t, TILE_WIDTH, TILE_HEIGHT, FILTERS));
VMEM(C, Weights, weights);
VMEM_TDF_HANDLER(A, input_handler);
VMEM_TDF_HANDLER(B, output_handler);

static void accumulate(int8_t const *tile, int pitch, int plane, int first, int planes, int32_t *sums)
{
    for (int f = 0; f < FILTERS; f++)
        for (int y = 0; y < TILE_HEIGHT; y++)
            for (int x = 0; x < TILE_WIDTH; x++) {
                int32_t sum = 0;
                for (int c = 0; c < planes; c++)
                    for (int ky = 0; ky < 3; ky++)
                        for (int kx = 0; kx < 3; kx++)
                            sum += weights.values[f][first + c][ky][kx]
                                   * tile[c * plane + (y + ky) * pitch + x + kx];
                int32_t *target = &sums[(f * TILE_HEIGHT + y) * TILE_WIDTH + x];
                *target = first ? *target + sum : sum;
            }
}

CUPVA_VPU_MAIN()
{
    cupvaTensorDataFlowOpen(input_handler, input);
    cupvaTensorDataFlowOpen(output_handler, output);
    int const pitch = cupvaTensorDataFlowGetTileLinePitch(input_handler);
    int const plane = cupvaTensorDataFlowGetTilePlaneSize(input_handler);
    for (int place = 0; place < cupvaTensorDataFlowGetNiterHW(input_handler); place++) {
        int32_t *sums = (int32_t *)cupvaTensorDataFlowAcquire(output_handler);
        int first = 0;
        for (int c = 0; c < cupvaTensorDataFlowGetNiterC(input_handler); c++) {
            int8_t const *tile = (int8_t const *)cupvaTensorDataFlowAcquire(input_handler);
            // The last transfer may have fewer planes; what lies behind them is left over.
            int const planes = cupvaTensorDataFlowGetNumTiles(input_handler);
            accumulate(tile, pitch, plane, first, planes, sums);
            first += planes;
            cupvaTensorDataFlowRelease(input_handler);
        }
        cupvaTensorDataFlowRelease(output_handler);
    }
    cupvaTensorDataFlowClose(input_handler);
    cupvaTensorDataFlowClose(output_handler);
    return 0;
}
