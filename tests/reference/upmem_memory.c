/* The memories of single DPUs and of ranks by address, without a program: WRAM positions and
   sizes count words of 32 bits, those of MRAM count bytes. */
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define AT 64 /* words of WRAM */

int main(void)
{
    const dpuword_t all[4] = { 1, 2, 3, 4 }, mine[2] = { 50, 60 };
    const uint8_t text[16] = "sixteen letters";
    dpuword_t words[4];
    uint8_t bytes[16];
    struct dpu_set_t set;

    DPU_ASSERT(dpu_alloc_ranks(1, NULL, &set));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *first = dpu_get(rank, 0, 0), *last = dpu_get(rank, 7, 7);

    DPU_ASSERT(dpu_copy_to_wram_for_rank(rank, AT, all, 4));
    DPU_ASSERT(dpu_copy_to_wram_for_dpu(last, AT + 1, mine, 2));
    DPU_ASSERT(dpu_copy_from_wram_for_dpu(first, words, AT, 4));
    CHECK(memcmp(words, all, sizeof all) == 0);
    DPU_ASSERT(dpu_copy_from_wram_for_dpu(last, words, AT, 4));
    CHECK(words[0] == 1 && words[1] == 50 && words[2] == 60 && words[3] == 4);

    DPU_ASSERT(dpu_copy_to_mram(last, 1 << 20, text, sizeof text));
    DPU_ASSERT(dpu_copy_from_mram(last, bytes, 1 << 20, sizeof bytes));
    CHECK(memcmp(bytes, text, sizeof text) == 0);

    /* Copies end inside the memory; MRAM takes multiples of 8 bytes. */
    CHECK(dpu_copy_to_wram_for_dpu(first, 16383, all, 2) == DPU_ERR_INVALID_WRAM_ACCESS);
    CHECK(dpu_copy_from_mram(first, bytes, 4, 8) == DPU_ERR_INVALID_MRAM_ACCESS);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
