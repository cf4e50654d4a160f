/* A core file of a DPU that runs, and another DPU that goes on from there. The second argument is
   upmem_isa.S, assembled. */
#include <dpu.h>
#include <dpu_checkpoint.h>
#include <dpu_debug.h>
#include <dpu_elf.h>
#include <dpu_management.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static char path[] = "/tmp/core_of_a_dpu_XXXXXX";

/* The segments that the SDK's library writes: WRAM, IRAM, the registers' own place, MRAM. */
static void look_at(const struct dpu_context_t *saved)
{
    const Elf32_Addr places[] = {0, 0x80000000, 0xa0000000, 0x08000000};
    const uint32_t sizes[] = {saved->info.wram_size * 4, saved->info.iram_size * 8, 0,
                              saved->info.mram_size};
    Elf32_Ehdr head;
    Elf32_Phdr segment;
    FILE *file = fopen(path, "rb");

    CHECK(file && fread(&head, sizeof head, 1, file) == 1);
    CHECK(memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS32);
    CHECK(head.e_type == ET_CORE && head.e_machine == EM_DPU && head.e_phnum == 4);
    CHECK(fseek(file, (long)head.e_phoff, SEEK_SET) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(fread(&segment, sizeof segment, 1, file) == 1);
        CHECK(segment.p_type == PT_LOAD && segment.p_vaddr == places[i]);
        CHECK(segment.p_filesz == (i == 2 ? segment.p_memsz : sizes[i]));
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    struct dpu_context_t saved, *held_back = NULL;
    struct dpu_set_t set, dpu, pair[2];
    uint32_t index, held = 1, count = 10, go = 0, sum;

    CHECK(argc > 2);
    int made = mkstemp(path);
    CHECK(made >= 0);
    close(made);
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[2], NULL));
    DPU_FOREACH(set, dpu, index)
        pair[index] = dpu;

    DPU_ASSERT(dpu_copy_to(pair[0], "held", 0, &held, sizeof held));
    DPU_ASSERT(dpu_copy_to(pair[0], "count", 0, &count, sizeof count));
    DPU_ASSERT(dpu_launch(pair[0], DPU_ASYNCHRONOUS));
    DPU_ASSERT(dpu_checkpoint_save(pair[0], DPU_CHECKPOINT_ALL, &saved));
    uint8_t *wram = (uint8_t *)saved.wram, *iram = (uint8_t *)saved.iram, *mram = saved.mram;
    const uint32_t wram_size = saved.info.wram_size * 4, iram_size = saved.info.iram_size * 8;
    struct dpu_rank_t *rank = dpu_get_rank(dpu_from_set(pair[0]));

    /* A file of registers alone in its context, as debuggers make it. */
    saved.wram = NULL;
    saved.iram = NULL;
    saved.mram = NULL;
    CHECK(dpu_create_core_dump(rank, "/no such program", path, &saved, wram, mram, iram, wram_size,
                               saved.info.mram_size, iram_size) == DPU_ERR_ELF_NO_SUCH_FILE);
    DPU_ASSERT(dpu_create_core_dump(rank, argv[2], path, &saved, wram, mram, iram, wram_size,
                                    saved.info.mram_size, iram_size));
    look_at(&saved);
    free(wram);
    free(iram);
    free(mram);
    DPU_ASSERT(dpu_checkpoint_free(&saved));

    /* The state of one DPU is for one DPU. */
    CHECK(dpu_load(set, path, NULL) == DPU_ERR_ELF_INVALID_FILE);
    DPU_ASSERT(dpu_load(pair[1], path, NULL));
    DPU_ASSERT(dpu_pop_debug_context(dpu_from_set(pair[1]), &held_back));
    CHECK(held_back && held_back->nr_of_running_threads == 1);
    DPU_ASSERT(dpu_copy_from(pair[1], "count", 0, &count, sizeof count));
    CHECK(count == 10);
    DPU_ASSERT(dpu_copy_to(pair[1], "held", 0, &go, sizeof go));
    DPU_ASSERT(dpu_finalize_fault_process_for_dpu(dpu_from_set(pair[1]), held_back));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_copy_from(pair[1], "sum", 0, &sum, sizeof sum));
    CHECK(sum == 55);
    dpu_free_dpu_context(held_back);
    free(held_back);
    DPU_ASSERT(dpu_pop_debug_context(dpu_from_set(pair[1]), &held_back));
    CHECK(held_back == NULL);

    DPU_ASSERT(dpu_free(set));
    unlink(path);
    printf("ok\n");
    return 0;
}
