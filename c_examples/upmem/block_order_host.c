/* Small blocks of many DPUs go to adjacent host memory. In regular order all DPUs write their block
   0 at the same time, then block 1, and so on: on a machine with DPUs their cache lines collide.
   Beginning at a random block for each DPU avoids it. Both orders are measured, and must give the
   same result. */
#define _POSIX_C_SOURCE 199309L
#include <dpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "block_order.h"

#define NR_DPUS 64
#define BLOCK_BYTES (BLOCK_ELEMENTS * sizeof(uint32_t))
#define REPETITIONS 9

typedef struct sg_xfer_context {
    uint8_t *result; /* all DPUs' block 0, then all DPUs' block 1, ... */
    const uint32_t *offsets; /* the block with which each DPU begins */
} sg_xfer_context;

static bool get_block(struct sg_block_info *out, uint32_t dpu_index, uint32_t block_index,
                      void *args)
{
    const sg_xfer_context *context = (const sg_xfer_context *)args;
    if (block_index >= NB_BLOCKS)
        return false;
    block_index = (block_index + context->offsets[dpu_index]) % NB_BLOCKS;
    out->addr = context->result + (block_index * NR_DPUS + dpu_index) * BLOCK_BYTES;
    out->length = BLOCK_BYTES;
    return true;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Runs the kernel with these offsets and fetches the result; the best bandwidth in MB/s. */
static double measure(struct dpu_set_t set, uint32_t *offsets, uint8_t *result)
{
    struct dpu_set_t dpu;
    uint32_t index;
    double best = 0;
    sg_xfer_context context = { .result = result, .offsets = offsets };
    get_block_t get_block_info
        = { .f = get_block, .args = &context, .args_size = sizeof(context) };

    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_prepare_xfer(dpu, &offsets[index]));
    }
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "offset", 0, sizeof offsets[0],
                             DPU_XFER_DEFAULT));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    for (int i = 0; i < REPETITIONS; i++) {
        const double begin = now();
        DPU_ASSERT(dpu_push_sg_xfer(set, DPU_XFER_FROM_DPU, "output", 0, NB_BLOCKS * BLOCK_BYTES,
                                    &get_block_info, DPU_SG_XFER_DEFAULT));
        const double rate = NR_DPUS * NB_BLOCKS * BLOCK_BYTES / (now() - begin) / 1e6;
        best = rate > best ? rate : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    static uint32_t regular[NR_DPUS * NB_BLOCKS * BLOCK_ELEMENTS];
    static uint32_t rotated[NR_DPUS * NB_BLOCKS * BLOCK_ELEMENTS];
    uint32_t offsets[NR_DPUS] = { 0 }, numbers[NR_DPUS], index;
    struct dpu_set_t set, dpu;
    char profile[64];

    if (argc != 2) {
        fprintf(stderr, "usage: %s dpu-program\n", argv[0]);
        return 2;
    }
    snprintf(profile, sizeof profile, "sgXferEnable=true, sgXferMaxBlocksPerDpu=%d", NB_BLOCKS);
    DPU_ASSERT(dpu_alloc(NR_DPUS, profile, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_FOREACH(set, dpu, index) {
        numbers[index] = index;
        DPU_ASSERT(dpu_prepare_xfer(dpu, &numbers[index]));
    }
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "dpu_number", 0, sizeof numbers[0],
                             DPU_XFER_DEFAULT));

    const double in_order = measure(set, offsets, (uint8_t *)regular);
    srand(5);
    for (int d = 0; d < NR_DPUS; d++)
        offsets[d] = (uint32_t)rand() % NB_BLOCKS;
    const double from_offset = measure(set, offsets, (uint8_t *)rotated);
    DPU_ASSERT(dpu_free(set));

    int wrong = memcmp(regular, rotated, sizeof regular) != 0;
    for (uint32_t block = 0; block < NB_BLOCKS; block++)
        for (uint32_t d = 0; d < NR_DPUS; d++)
            for (uint32_t i = 0; i < BLOCK_ELEMENTS; i++)
                wrong |= regular[(block * NR_DPUS + d) * BLOCK_ELEMENTS + i]
                         != (d * NB_BLOCKS + block) * BLOCK_ELEMENTS + i;
    printf("block order: regular %.0f MB/s, from a random offset %.0f MB/s; results %s\n",
           in_order, from_offset, wrong ? "WRONG" : "are equal");
    return wrong;
}
