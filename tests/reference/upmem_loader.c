/* What dpu_load does, step by step: open the file, describe where it goes, write it there. */
#include <dpu.h>
#include <dpu_elf.h>
#include <dpu_loader.h>
#include <dpu_management.h>
#include <dpu_profiler.h>
#include <dpu_program.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define MRAM_SIZE (64 << 20)

static uint8_t image[1 << 20];

static unsigned int read_image(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t size = fread(image, 1, sizeof image, file);
    CHECK(size > 0 && size < sizeof image);
    fclose(file);
    return (unsigned int)size;
}

static uint32_t launches_of(struct dpu_t *dpu, struct dpu_symbol_t launches)
{
    struct dpu_set_t one = dpu_set_from_dpu(dpu);
    uint32_t found;

    DPU_ASSERT(dpu_launch(one, DPU_SYNCHRONOUS));
    DPU_ASSERT(dpu_copy_from_symbol(one, launches, 0, &found, sizeof found));
    return found;
}

/* A host that keeps the description of the program itself. */
static struct dpu_symbol_t describe(const char *path, unsigned int size)
{
    static struct dpu_program_t program, from_memory;
    struct dpu_symbol_t launches, same;
    dpu_elf_file_t file;

    DPU_ASSERT(dpu_load_elf_program(&file, path, &program, MRAM_SIZE));
    dpu_init_program_ref(&program);
    CHECK(program.reference_count == 0);
    dpu_take_program_ref(&program);
    CHECK(program.reference_count == 1);
    CHECK(program.nr_threads_enabled == 4 && strcmp(program.program_path, path) == 0);
    DPU_ASSERT(dpu_get_symbol(&program, "launches", &launches));
    dpu_elf_close(file);

    DPU_ASSERT(dpu_load_elf_program_from_memory(&file, "a copy", image, size, &from_memory,
                                                MRAM_SIZE));
    CHECK(strcmp(from_memory.program_path, "a copy") == 0);
    DPU_ASSERT(dpu_get_symbol(&from_memory, "launches", &same));
    CHECK(same.address == launches.address && same.size == launches.size);
    dpu_elf_close(file);
    return launches;
}

int main(int argc, char **argv)
{
    struct _dpu_loader_context_t context;
    dpu_elf_file_t file;
    struct dpu_set_t set;

    CHECK(argc > 1);
    unsigned int size = read_image(argv[1]);
    DPU_ASSERT(dpu_alloc_ranks(1, NULL, &set));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *first = dpu_get(rank, 0, 0), *last = dpu_get(rank, 7, 7);
    struct dpu_symbol_t launches = describe(argv[1], size);

    DPU_ASSERT(dpu_elf_open(argv[1], &file));
    dpu_loader_fill_rank_context(&context, rank);
    CHECK(context.env.target == DPU_LOADER_TARGET_RANK && context.env.rank == rank);
    DPU_ASSERT(dpu_elf_load(file, &context));
    dpu_elf_close(file);
    CHECK(launches_of(first, launches) == 1);
    CHECK(launches_of(last, launches) == 1);
    CHECK(launches_of(last, launches) == 2);

    /* Into one DPU, from memory: its variables begin anew, those of the others stay. */
    DPU_ASSERT(dpu_elf_map(image, size, &file, "a copy"));
    dpu_loader_fill_dpu_context(&context, last);
    CHECK(context.env.target == DPU_LOADER_TARGET_DPU && context.env.dpu == last);
    DPU_ASSERT(dpu_elf_load(file, &context));
    dpu_elf_close(file);
    CHECK(launches_of(last, launches) == 1);
    CHECK(launches_of(first, launches) == 2);
    CHECK(dpu_elf_open("/no such file", &file) == DPU_ERR_ELF_NO_SUCH_FILE);

    /* Loaders tell the rank where a profiled program keeps its counts; this one has none. */
    dpu_elf_symbols_t sections = { .nr_symbols = 0, .map = NULL };
    DPU_ASSERT(dpu_fill_profiling_info(rank, 0, 0, 0, 0, &sections));
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
