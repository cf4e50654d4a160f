/* DPU side: writes its blocks into the output buffer, beginning with number `offset`. */
#include <defs.h>
#include <mram.h>
#include <stdint.h>

#include "block_order.h"

__host uint32_t offset;
__host uint32_t dpu_number;
__mram_noinit uint32_t output[NB_BLOCKS * BLOCK_ELEMENTS];

int main(void)
{
    __dma_aligned uint32_t result[BLOCK_ELEMENTS];

    for (uint32_t place = me(); place < NB_BLOCKS; place += NR_TASKLETS) {
        const uint32_t block = (place + offset) % NB_BLOCKS;
        for (uint32_t i = 0; i < BLOCK_ELEMENTS; i++)
            result[i] = (dpu_number * NB_BLOCKS + block) * BLOCK_ELEMENTS + i;
        mram_write(result, &output[place * BLOCK_ELEMENTS], sizeof(result));
    }
    return 0;
}
