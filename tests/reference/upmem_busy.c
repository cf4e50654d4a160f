/* What the host may copy while DPUs run: WRAM and IRAM. MRAM is busy until they have ended. */
#include <dpu.h>
#include <dpu_elf.h>
#include <dpu_loader.h>
#include <dpu_log.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <dpu_older_releases.h>
#include <dpu_program.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define WORDS_OF_WRAM 16384

static const char *program_path;

static wram_addr_t symbol_word(struct dpu_program_t *program, const char *name)
{
    struct dpu_symbol_t symbol;
    DPU_ASSERT(dpu_get_symbol(program, name, &symbol));
    return symbol.address / 4;
}

/* What loads programs and reads logs needs MRAM, and asks for it without waiting. */
static void loads(struct dpu_rank_t *rank, struct dpu_t *dpu)
{
    struct _dpu_loader_context_t context;
    struct dpu_program_t described;
    dpu_elf_file_t file;

    CHECK(dpu_load(dpu_set_from_dpu(dpu), program_path, NULL) == DPU_ERR_MRAM_BUSY);
    DPU_ASSERT(dpu_load_elf_program(&file, program_path, &described, 64 << 20));
    dpu_loader_fill_rank_context(&context, rank);
    CHECK(dpu_elf_load(file, &context) == DPU_ERR_MRAM_BUSY);
    dpu_elf_close(file);
    CHECK(dpulog_read_for_dpu(dpu, stdout) == DPU_ERR_MRAM_BUSY);
}

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

    /* A matrix is checked, and refused, whether or not it has buffers. */
    dpu_transfer_matrix_clear_all(rank, &matrix);
    matrix.size = 8;
    CHECK(dpu_copy_to_mrams(rank, &matrix) == DPU_ERR_MRAM_BUSY);
    matrix.offset = 4;
    CHECK(dpu_copy_to_mrams(rank, &matrix) == DPU_ERR_INVALID_MRAM_ACCESS);
    matrix.offset = WORDS_OF_WRAM;
    CHECK(dpu_copy_to_wram_for_matrix(rank, &matrix) == DPU_ERR_INVALID_WRAM_ACCESS);
    matrix.size = 0;
    DPU_ASSERT(dpu_copy_to_wram_for_matrix(rank, &matrix));

    loads(rank, dpu);
    words[0] = 0;
    DPU_ASSERT(dpu_copy_to_symbol_rank(rank, active, 0, words, 8));
}

/* Instructions can be read and written while they run. */
static void instructions(const char *path)
{
    struct dpu_set_t set;
    struct dpu_program_t *program;
    struct dpu_symbol_t store;
    dpuinstruction_t kept, found;
    uint32_t held = 1, sum;

    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    DPU_ASSERT(dpu_load(set, path, &program));
    DPU_ASSERT(dpu_get_symbol(program, "store", &store));
    DPU_ASSERT(dpu_copy_to(set, "held", 0, &held, sizeof held));
    struct dpu_t *dpu = dpu_get(dpu_rank_from_set(set), 0, 0);
    iram_addr_t at = (iram_addr_t)((store.address & 0x7fffffff) / sizeof kept);

    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    DPU_ASSERT(dpu_copy_from_iram_for_dpu(dpu, &kept, at, 1));
    DPU_ASSERT(dpu_copy_to_iram_for_dpu(dpu, at, &kept, 1));
    DPU_ASSERT(dpu_copy_from_iram_for_dpu(dpu, &found, at, 1));
    CHECK(found == kept && kept != 0);
    held = 0;
    DPU_ASSERT(dpu_copy_to_wram_for_dpu(dpu, symbol_word(program, "held"), &held, 1));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_copy_from(set, "sum", 0, &sum, sizeof sum));
    CHECK(sum == 15);
    DPU_ASSERT(dpu_free(set));
}

int main(int argc, char **argv)
{
    struct dpu_set_t set;
    struct dpu_program_t *program;
    uint32_t mode = 1;
    uint64_t word;

    CHECK(argc > 2);
    program_path = argv[1];
    instructions(argv[2]);
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
