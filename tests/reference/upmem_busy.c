/* What the host may copy while DPUs run: WRAM. MRAM is busy until they have ended. */
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <dpu_older_releases.h>
#include <stdint.h>

#include "check.h"

/* The DPUs take from a FIFO until `active` is 0. */
static void beside(struct dpu_rank_t *rank, struct dpu_t *dpu, struct dpu_program_t *program)
{
    struct dpu_symbol_t mode, factor, input, active;
    struct dpu_transfer_matrix matrix;
    uint64_t words[2] = { 0, 0 };
    uint32_t word = 0, ten = 10;

    DPU_ASSERT(dpu_get_symbol(program, "mode", &mode));
    DPU_ASSERT(dpu_get_symbol(program, "factor", &factor));
    DPU_ASSERT(dpu_get_symbol(program, "input", &input));
    DPU_ASSERT(dpu_get_symbol(program, "active", &active));

    DPU_ASSERT(dpu_copy_from_wram_for_dpu(dpu, &word, mode.address / 4, 1));
    CHECK(word == 1);
    DPU_ASSERT(dpu_copy_to_wram_for_rank(rank, factor.address / 4, &ten, 1));
    DPU_ASSERT(dpu_copy_from_symbol_dpu(dpu, factor, 0, &word, sizeof word));
    CHECK(word == 10);

    dpu_transfer_matrix_clear_all(rank, &matrix);
    dpu_transfer_matrix_add_dpu(dpu, &matrix, words);
    matrix.size = 8;
    CHECK(dpu_copy_from_mram(dpu, (uint8_t *)words, 0, 8) == DPU_ERR_MRAM_BUSY);
    CHECK(dpu_copy_to_mram(dpu, 0, (uint8_t *)words, 8) == DPU_ERR_MRAM_BUSY);
    CHECK(dpu_copy_to_mrams(rank, &matrix) == DPU_ERR_MRAM_BUSY);
    CHECK(dpu_copy_from_mrams(rank, &matrix) == DPU_ERR_MRAM_BUSY);
    CHECK(dpu_copy_from_symbol_dpu(dpu, input, 0, words, 8) == DPU_ERR_MRAM_BUSY);
    CHECK(dpu_copy_to_symbol_rank(rank, input, 0, words, 8) == DPU_ERR_MRAM_BUSY);
    DPU_ASSERT(dpu_copy_from_mram(dpu, (uint8_t *)words, 0, 0));
    CHECK(dpu_copy_from_mram(dpu, (uint8_t *)words, 4, 8) == DPU_ERR_INVALID_MRAM_ACCESS);

    words[0] = 0;
    DPU_ASSERT(dpu_copy_to_symbol_rank(rank, active, 0, words, 8));
}

int main(int argc, char **argv)
{
    struct dpu_set_t set;
    struct dpu_program_t *program;
    uint32_t mode = 1;
    uint64_t word;

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc(12, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], &program));
    DPU_ASSERT(dpu_broadcast_to(set, "mode", 0, &mode, sizeof mode, DPU_XFER_DEFAULT));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *last = dpu_get(rank, 1, 0);

    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    beside(rank, last, program);
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_copy_from_mram(last, (uint8_t *)&word, 0, sizeof word));
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
