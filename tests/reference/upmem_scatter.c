/* Scatter and gather by symbol: the columns of a matrix are the inputs of the DPUs. */
#include <dpu.h>
#include <stdint.h>

#include "check.h"

#define NR_DPUS 4
#define ROWS 32

typedef struct columns {
    uint64_t (*rows)[NR_DPUS];
} columns;

static bool get_block(struct sg_block_info *out, uint32_t dpu_index, uint32_t block_index,
                      void *args)
{
    const columns *of = args;
    if (block_index >= ROWS)
        return false;
    out->addr = (uint8_t *)&of->rows[block_index][dpu_index];
    out->length = sizeof of->rows[0][0];
    return true;
}

int main(int argc, char **argv)
{
    static uint64_t matrix[ROWS][NR_DPUS], back[ROWS][NR_DPUS], column[ROWS];
    struct dpu_set_t set, dpu;
    struct dpu_program_t *program;
    struct dpu_symbol_t input, factor;
    uint32_t index;

    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < NR_DPUS; i++)
            matrix[row][i] = 1000 * i + row;

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc(NR_DPUS, "sgXferEnable=true,sgXferMaxBlocksPerDpu=32", &set));
    DPU_ASSERT(dpu_load(set, argv[1], &program));
    DPU_ASSERT(dpu_get_symbol(program, "input", &input));
    DPU_ASSERT(dpu_get_symbol(program, "factor", &factor));

    columns of = { .rows = matrix };
    get_block_t blocks = { .f = get_block, .args = &of, .args_size = sizeof of };
    DPU_ASSERT(dpu_push_sg_xfer_symbol(set, DPU_XFER_TO_DPU, input, 0, sizeof column, &blocks,
                                       DPU_SG_XFER_DEFAULT));
    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_copy_from(dpu, "input", 0, column, sizeof column));
        for (int row = 0; row < ROWS; row++)
            CHECK(column[row] == matrix[row][index]);
    }

    of.rows = back;
    DPU_ASSERT(dpu_push_sg_xfer_symbol(set, DPU_XFER_FROM_DPU, input, 0, sizeof column, &blocks,
                                       DPU_SG_XFER_DEFAULT));
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < NR_DPUS; i++)
            CHECK(back[row][i] == matrix[row][i]);

    /* Blocks lie in MRAM only, and hold as many bytes as the transfer has. */
    CHECK(dpu_push_sg_xfer_symbol(set, DPU_XFER_TO_DPU, factor, 0, 4, &blocks,
                                  DPU_SG_XFER_DEFAULT) == DPU_ERR_SG_NOT_MRAM_SYMBOL);
    CHECK(dpu_push_sg_xfer_symbol(set, DPU_XFER_TO_DPU, input, 0, 128, &blocks,
                                  DPU_SG_XFER_DEFAULT) == DPU_ERR_SG_LENGTH_MISMATCH);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
