/* Instructions of DPUs, read and replaced. The second argument is upmem_isa.S, assembled. */
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define IRAM 0x80000000u
#define STOP 0x7ef320000000ull

/* Launches the program; what it leaves in its variable `sum`. */
static uint32_t sum_of(struct dpu_set_t set, struct dpu_t *dpu)
{
    uint32_t sum;

    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_ASSERT(dpu_copy_from(dpu_set_from_dpu(dpu), "sum", 0, &sum, sizeof sum));
    return sum;
}

int main(int argc, char **argv)
{
    struct dpu_transfer_matrix matrix = { .type = DPU_DEFAULT_XFER_MATRIX };
    struct dpu_set_t set;
    struct dpu_program_t *program;
    struct dpu_symbol_t store;
    dpuinstruction_t kept[2], found[2], stop = STOP;

    CHECK(argc > 2);
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[2], &program));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *first = dpu_get(rank, 0, 0), *second = dpu_get(rank, 1, 0);

    /* The host sees labels of instructions; positions count them. */
    DPU_ASSERT(dpu_get_symbol(program, "store", &store));
    iram_addr_t at = (store.address - IRAM) / sizeof(dpuinstruction_t);
    CHECK(at == 6);
    DPU_ASSERT(dpu_copy_from_iram_for_dpu(first, kept, at, 2));
    CHECK(kept[1] == STOP);
    CHECK(sum_of(set, first) == 15 && sum_of(set, second) == 15);

    /* Without the instruction that stores it there is no sum. */
    uint32_t none = 0;
    DPU_ASSERT(dpu_copy_to(set, "sum", 0, &none, sizeof none));
    DPU_ASSERT(dpu_copy_to_iram_for_dpu(second, at, &stop, 1));
    CHECK(sum_of(set, first) == 15 && sum_of(set, second) == 0);
    DPU_ASSERT(dpu_copy_to_iram_for_rank(rank, at, kept, 2));
    CHECK(sum_of(set, second) == 15);

    /* Through matrices, whose offset and size count instructions, too. */
    matrix.offset = at;
    matrix.size = 2;
    dpu_transfer_matrix_add_dpu(first, &matrix, found);
    DPU_ASSERT(dpu_copy_from_iram_for_matrix(rank, &matrix));
    CHECK(memcmp(found, kept, sizeof kept) == 0);
    found[0] = STOP;
    DPU_ASSERT(dpu_copy_to_iram_for_matrix(rank, &matrix));
    DPU_ASSERT(dpu_copy_to(set, "sum", 0, &none, sizeof none));
    CHECK(sum_of(set, first) == 0 && sum_of(set, second) == 15);

    CHECK(dpu_copy_to_iram_for_dpu(first, 4095, kept, 2) == DPU_ERR_INVALID_IRAM_ACCESS);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
