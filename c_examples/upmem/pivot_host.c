/* Partitions a buffer around a pivot with several DPUs. Each DPU gathers its elements from two
   places of the buffer and partitions them; then the left parts of all DPUs are scattered to the
   front of the result and the right parts behind them. */
#include <dpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pivot_check.h"

#define NR_DPUS 8
#define ELEMENTS (NR_DPUS * ELEMENTS_PER_DPU)

/* What get_block needs; dpu_push_sg_xfer copies it. */
typedef struct sg_xfer_context {
    uint64_t (*metadata)[NB_BLOCKS]; /* elements of each block of each DPU */
    int32_t *(*block_addresses)[NB_BLOCKS]; /* where they lie */
} sg_xfer_context;

static bool get_block(struct sg_block_info *out, uint32_t dpu_index, uint32_t block_index,
                      void *args)
{
    const sg_xfer_context *context = (const sg_xfer_context *)args;
    if (block_index >= NB_BLOCKS)
        return false;
    out->addr = (uint8_t *)context->block_addresses[dpu_index][block_index];
    out->length = (uint32_t)(context->metadata[dpu_index][block_index] * sizeof(int32_t));
    return true;
}

int main(int argc, char **argv)
{
    static int32_t before[ELEMENTS], after[ELEMENTS];
    static uint64_t metadata[NR_DPUS][NB_BLOCKS];
    static int32_t *block_addresses[NR_DPUS][NB_BLOCKS];
    const size_t bytes = ELEMENTS_PER_DPU * sizeof(int32_t);
    struct dpu_set_t set, dpu;
    uint32_t index;

    if (argc != 2) {
        fprintf(stderr, "usage: %s dpu-program\n", argv[0]);
        return 2;
    }
    srand(2);
    for (size_t i = 0; i < ELEMENTS; i++)
        before[i] = rand() % 1000000;

    DPU_ASSERT(dpu_alloc(NR_DPUS, "sgXferEnable=true", &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));

    sg_xfer_context context = { .metadata = metadata, .block_addresses = block_addresses };
    get_block_t get_block_info
        = { .f = get_block, .args = &context, .args_size = sizeof(context) };

    /* to the DPUs: one half from the front of the buffer, one from its end */
    for (size_t d = 0; d < NR_DPUS; d++) {
        metadata[d][0] = metadata[d][1] = ELEMENTS_PER_DPU / 2;
        block_addresses[d][0] = &before[d * ELEMENTS_PER_DPU / 2];
        block_addresses[d][1] = &before[ELEMENTS - (d + 1) * ELEMENTS_PER_DPU / 2];
    }
    DPU_ASSERT(dpu_push_sg_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, bytes, &get_block_info,
                                DPU_SG_XFER_DEFAULT));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));

    /* from the DPUs: how long the parts are says where each goes */
    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_prepare_xfer(dpu, metadata[index]));
    }
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "metadata", 0, sizeof metadata[0],
                             DPU_XFER_DEFAULT));
    int32_t *next = after;
    for (int block = 0; block < NB_BLOCKS; block++)
        for (size_t d = 0; d < NR_DPUS; d++) {
            block_addresses[d][block] = next;
            next += metadata[d][block];
        }
    DPU_ASSERT(dpu_push_sg_xfer(set, DPU_XFER_FROM_DPU, "buffer", 0, bytes, &get_block_info,
                                DPU_SG_XFER_DEFAULT));
    DPU_ASSERT(dpu_free(set));
    return pivot_check("pivot (C)", before, after, ELEMENTS,
                       (size_t)(block_addresses[0][1] - after));
}
