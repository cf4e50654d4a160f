/* Passes tiles on, with two buffers each way: while one tile is copied, the next one is on its way. */
#include <cupva_device.h>

#include "static_copy.h"

VMEM(A, uint8_t, left_tile, PADDED_TILE);
VMEM(B, uint8_t, right_tile, PADDED_TILE);
VMEM(C, uint8_t, output, 2 * PADDED_TILE);
VMEM(A, uint32_t, left_handler);
VMEM(B, uint32_t, right_handler);
VMEM(C, uint32_t, output_handler);

CUPVA_VPU_MAIN()
{
    cupvaDataFlowTrig(left_handler);
    for (int number = 0; number < 2 * TILE_ROWS; number++) {
        bool const right = number % 2;
        uint8_t const *from = right ? right_tile : left_tile;
        uint8_t *to = output + (right ? PADDED_TILE : 0);

        cupvaDataFlowSync(right ? right_handler : left_handler);
        if (number + 1 < 2 * TILE_ROWS)
            cupvaDataFlowTrig(right ? left_handler : right_handler);
        for (int i = 0; i < PADDED_TILE; i++)
            to[i] = from[i];
        if (number > 0)
            cupvaDataFlowSync(output_handler); // the tile before this one
        cupvaDataFlowTrig(output_handler);
    }
    cupvaDataFlowSync(output_handler);
    return 0;
}
