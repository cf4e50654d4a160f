/* DPU side: the tasklets share a buffer in MRAM block by block and add up its bytes. */
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>
#include <stdio.h>

#include "checksum.h"

#define BLOCK_BYTES 256

__mram_noinit uint8_t buffer[BUFFER_BYTES];
__host uint32_t checksum;

static uint32_t partial[NR_TASKLETS];

BARRIER_INIT(all_added, NR_TASKLETS);

int main(void)
{
    __dma_aligned uint8_t block[BLOCK_BYTES];
    uint32_t sum = 0;

    for (uint32_t at = me() * BLOCK_BYTES; at < BUFFER_BYTES; at += NR_TASKLETS * BLOCK_BYTES) {
        mram_read(&buffer[at], block, BLOCK_BYTES);
        for (int i = 0; i < BLOCK_BYTES; i++)
            sum += block[i];
    }
    partial[me()] = sum;
    barrier_wait(&all_added);

    if (me() == 0) {
        uint32_t total = 0;
        for (int tasklet = 0; tasklet < NR_TASKLETS; tasklet++)
            total += partial[tasklet];
        checksum = total;
        printf("%d tasklets: checksum 0x%08x\n", NR_TASKLETS, checksum);
    }
    return 0;
}
