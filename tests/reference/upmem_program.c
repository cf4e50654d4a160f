/* The structure that describes a loaded program: who holds it, and which DPUs run it. */
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_program.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

/* The symbols that a host finds by walking over them are those of dpu_get_symbol. */
static void walk(struct dpu_program_t *program)
{
    struct dpu_symbol_t factor;
    uint32_t found = 0;

    DPU_ASSERT(dpu_get_symbol(program, "factor", &factor));
    CHECK(program->symbols != NULL && program->symbols->nr_symbols > 0);
    for (unsigned int i = 0; i < program->symbols->nr_symbols; i++) {
        const dpu_elf_symbol_t *symbol = &program->symbols->map[i];
        if (strcmp(symbol->name, "factor") == 0) {
            CHECK(symbol->value == factor.address && symbol->size == factor.size);
            found++;
        }
    }
    CHECK(found == 1);
    CHECK(program->profiling_symbols != NULL && program->profiling_symbols->nr_symbols == 0);
}

int main(int argc, char **argv)
{
    struct dpu_set_t set, rank;
    struct dpu_program_t *program, *common, *other;
    uint32_t index;

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc_ranks(2, NULL, &set));
    CHECK(dpu_get_common_program(&set, &common) == DPU_ERR_NO_PROGRAM_LOADED);
    DPU_ASSERT(dpu_load(set, argv[1], &program));
    CHECK(program->nr_threads_enabled == 4);
    CHECK(strcmp(program->program_path, argv[1]) == 0);
    walk(program);
    DPU_ASSERT(dpu_get_common_program(&set, &common));
    CHECK(common == program);

    /* Programs are shared: each owner takes a reference and frees it. */
    int32_t owners = program->reference_count;
    dpu_take_program_ref(program);
    CHECK(program->reference_count == owners + 1);
    dpu_free_program(program);
    CHECK(program->reference_count == owners);

    /* The second rank gets a load of its own. */
    DPU_RANK_FOREACH(set, rank, index) {
        if (index == 1)
            DPU_ASSERT(dpu_load(rank, argv[1], &other));
    }
    struct dpu_t *first = dpu_get(set.list.ranks[0], 0, 0);
    struct dpu_t *second = dpu_get(set.list.ranks[1], 0, 0);
    struct dpu_program_t *of_first = dpu_get_program(first);
    struct dpu_program_t *of_second = dpu_get_program(second);
    CHECK(of_first == program && of_second == other && other != program);
    walk(other);
    CHECK(dpu_get_common_program(&set, &common) == DPU_ERR_DIFFERENT_DPU_PROGRAMS);

    /* This says which program a DPU holds; it loads nothing. */
    dpu_set_program(first, other);
    of_first = dpu_get_program(first);
    CHECK(of_first == other);
    dpu_set_program(first, program);
    of_first = dpu_get_program(first);
    CHECK(of_first == program);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
