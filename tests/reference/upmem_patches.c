/* Functions of the program that change the pieces of a DPU program before dpu_elf_load writes them,
   and the counts of what it has written. */
#include <dpu.h>
#include <dpu_elf.h>
#include <dpu_loader.h>
#include <dpu_management.h>
#include <dpu_program.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define MRAM (1u << 27)
#define IRAM (1u << 31)

static uint8_t image[1 << 20];
static uint32_t instructions, words, bytes; /* of the file */
static uint32_t called, first_calls, patched;
static struct dpu_symbol_t count;
static dpu_loader_env_t environment;
static mem_patch_function_t usual;

/* What the file has to load: the target's units are 8, 4 and 1 bytes. */
static void measure(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fread(image, 1, sizeof image, file) > sizeof(Elf32_Ehdr));
    fclose(file);
    const Elf32_Ehdr *head = (const Elf32_Ehdr *)image;
    const Elf32_Phdr *pieces = (const Elf32_Phdr *)(image + head->e_phoff);
    for (int i = 0; i < head->e_phnum; i++) {
        if (pieces[i].p_type != PT_LOAD)
            continue;
        if (pieces[i].p_vaddr & IRAM)
            instructions += pieces[i].p_memsz / 8;
        else if (pieces[i].p_vaddr & MRAM)
            bytes += pieces[i].p_memsz;
        else
            words += pieces[i].p_memsz / 4;
    }
    CHECK(instructions >= 8 && words >= 3);
}

static dpu_error_t look(dpu_loader_env_t env, void *content, dpu_mem_max_addr_t address,
                        dpu_mem_max_size_t size, bool init)
{
    CHECK(env == environment && address + size <= 4096);
    called += size;
    first_calls += init;
    return usual(env, content, address, size, init);
}

static dpu_error_t change(dpu_loader_env_t env, void *content, dpu_mem_max_addr_t address,
                          dpu_mem_max_size_t size, bool init)
{
    uint32_t *at = content, place = count.address / 4;

    (void)init;
    CHECK(env == environment);
    if (address <= place && place < address + size) {
        CHECK(at[place - address] == 5);
        at[place - address] = 10;
        patched++;
    }
    return DPU_OK;
}

static dpu_error_t refuse(dpu_loader_env_t env, void *content, dpu_mem_max_addr_t address,
                          dpu_mem_max_size_t size, bool init)
{
    (void)env, (void)content, (void)address, (void)size, (void)init;
    return DPU_ERR_VPD_NO_REPAIR;
}

int main(int argc, char **argv)
{
    struct _dpu_loader_context_t context;
    struct dpu_program_t *program;
    struct dpu_set_t set;
    dpu_elf_file_t file;
    uint32_t sum = 0;

    CHECK(argc > 2);
    measure(argv[2]);
    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    DPU_ASSERT(dpu_load(set, argv[2], &program));
    DPU_ASSERT(dpu_get_symbol(program, "count", &count));
    DPU_ASSERT(dpu_elf_open(argv[2], &file));

    /* There are functions already, but for MRAM; they may be called. */
    dpu_loader_fill_rank_context(&context, rank);
    CHECK(context.patch_iram && context.patch_wram && !context.patch_mram);
    CHECK(context.nr_of_instructions == 0 && context.nr_of_wram_words == 0);
    environment = &context.env;
    usual = context.patch_iram;
    context.patch_iram = look;
    context.patch_wram = change;
    DPU_ASSERT(dpu_elf_load(file, &context));
    CHECK(context.nr_of_instructions == instructions && context.nr_of_wram_words == words);
    CHECK(context.nr_of_mram_bytes == bytes);
    CHECK(called == instructions && first_calls == 1 && patched == 1);
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_ASSERT(dpu_copy_from(set, "sum", 0, &sum, sizeof sum));
    CHECK(sum == 55);

    /* Counts go on, so that a function can tell the first piece from the others. */
    DPU_ASSERT(dpu_elf_load(file, &context));
    CHECK(context.nr_of_instructions == 2 * instructions && first_calls == 1);

    context.patch_iram = refuse;
    CHECK(dpu_elf_load(file, &context) == DPU_ERR_VPD_NO_REPAIR);
    context.env.target = (dpu_loader_target_t)7;
    CHECK(dpu_elf_load(file, &context) == DPU_ERR_INTERNAL);
    CHECK(dpu_elf_load(file, NULL) != DPU_OK);
    dpu_elf_close(file);

    /* One DPU, and a program for this machine's processor, which has no instructions of a DPU. */
    DPU_ASSERT(dpu_elf_open(argv[1], &file));
    dpu_loader_fill_dpu_context(&context, dpu_get(rank, 0, 0));
    DPU_ASSERT(dpu_elf_load(file, &context));
    CHECK(context.nr_of_instructions == 0 && context.nr_of_wram_words >= 8);
    dpu_elf_close(file);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
