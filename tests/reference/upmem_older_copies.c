/* Copies of SDK 2020.3 and before: to a DPU, to a rank, and from the buffers that were prepared. */
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_older_releases.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define NR_DPUS 3
#define MRAM 0x08000000

static uint64_t rows[NR_DPUS][4], back[NR_DPUS][4];

static void prepare(struct dpu_set_t set, uint64_t (*buffers)[4])
{
    struct dpu_set_t dpu;
    uint32_t index;

    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_prepare_xfer(dpu, buffers[index]));
    }
}

int main(int argc, char **argv)
{
    struct dpu_set_t set;
    struct dpu_program_t *program;
    struct dpu_symbol_t input, factor;
    uint32_t number = 5, found;
    uint64_t line[4] = { 1, 2, 3, 4 };

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc(NR_DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], &program));
    DPU_ASSERT(dpu_get_symbol(program, "input", &input));
    DPU_ASSERT(dpu_get_symbol(program, "factor", &factor));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *first = dpu_get(rank, 0, 0), *second = dpu_get(rank, 1, 0);
    for (int i = 0; i < NR_DPUS; i++)
        for (int k = 0; k < 4; k++)
            rows[i][k] = 10 * i + k;

    /* By symbol. */
    DPU_ASSERT(dpu_copy_to_symbol_rank(rank, factor, 0, &number, sizeof number));
    number = 6;
    DPU_ASSERT(dpu_copy_to_symbol_dpu(second, factor, 0, &number, sizeof number));
    DPU_ASSERT(dpu_copy_from_symbol_dpu(first, factor, 0, &found, sizeof found));
    CHECK(found == 5);
    DPU_ASSERT(dpu_copy_from_symbol_dpu(second, factor, 0, &found, sizeof found));
    CHECK(found == 6);
    prepare(set, rows);
    DPU_ASSERT(dpu_copy_to_symbol_matrix(rank, input, 64, sizeof rows[0]));
    prepare(set, back);
    DPU_ASSERT(dpu_copy_from_symbol_matrix(rank, input, 64, sizeof back[0]));
    CHECK(memcmp(back, rows, sizeof rows) == 0);

    /* By address: WRAM from 0, MRAM from 0x08000000. */
    DPU_ASSERT(dpu_copy_from_address_dpu(second, factor.address, &found, sizeof found));
    CHECK(found == 6);
    DPU_ASSERT(dpu_copy_to_address_rank(rank, MRAM + 4096, line, sizeof line));
    line[0] = 99;
    DPU_ASSERT(dpu_copy_to_address_dpu(second, MRAM + 4096, line, 8));
    DPU_ASSERT(dpu_copy_from_address_dpu(first, MRAM + 4096, back[0], sizeof back[0]));
    CHECK(back[0][0] == 1 && back[0][3] == 4);
    prepare(set, back);
    DPU_ASSERT(dpu_copy_from_address_matrix(rank, MRAM + 4096, sizeof back[0]));
    CHECK(back[0][0] == 1 && back[1][0] == 99 && back[2][0] == 1 && back[1][3] == 4);
    prepare(set, rows);
    DPU_ASSERT(dpu_copy_to_address_matrix(rank, input.address, sizeof rows[0]));
    DPU_ASSERT(dpu_copy_from_symbol_dpu(second, input, 0, line, sizeof line));
    CHECK(memcmp(line, rows[1], sizeof line) == 0);

    CHECK(dpu_copy_to_address_dpu(first, MRAM + 4, line, 8) == DPU_ERR_INVALID_MRAM_ACCESS);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
