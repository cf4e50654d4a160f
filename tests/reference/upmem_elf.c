/* Program files, looked into: sections, symbols, places in the run-time system. The first program is
   compiled for this machine; the second one is upmem_isa.S, assembled. */
#include <dpu.h>
#include <dpu_elf.h>
#include <dpu_program.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define IRAM 0x80000000u

/* A symbol of any section of the file. */
static bool found(dpu_elf_file_t file, const char *name, dpu_elf_symbol_t *symbol)
{
    dpu_elf_symbols_t *symbols;
    unsigned int count;
    char **sections;
    bool there = false;

    DPU_ASSERT(dpu_elf_get_sections(file, &count, &sections));
    for (unsigned int i = 0; i < count; i++) {
        DPU_ASSERT(dpu_elf_load_symbols(file, sections[i], &symbols));
        for (unsigned int s = 0; s < symbols->nr_symbols; s++) {
            if (strcmp(symbols->map[s].name, name) == 0) {
                *symbol = symbols->map[s];
                there = true;
            }
        }
    }
    free(sections);
    return there;
}

static void instructions(const char *path)
{
    dpu_elf_symbol_t store, sum;
    dpu_elf_symbols_t *symbols;
    dpu_elf_runtime_info_t info;
    dpu_elf_file_t file;
    uint8_t *text;
    unsigned int size;
    uint64_t stop;

    DPU_ASSERT(dpu_elf_open(path, &file));
    CHECK(found(file, "store", &store) && found(file, "sum", &sum));
    CHECK(store.value == IRAM + 6 * 8 && sum.value < 65536 && sum.size == 4);
    DPU_ASSERT(dpu_elf_load_section(file, ".text", &size, &text));
    CHECK(size >= 8 * 8);
    memcpy(&stop, text + 7 * 8, sizeof stop); /* behind the one that stores */
    CHECK(stop == 0x7ef320000000ull);
    CHECK(dpu_elf_load_section(file, ".none", &size, &text) == DPU_ERR_ELF_NO_SUCH_SECTION);
    CHECK(dpu_elf_load_symbols(file, ".none", &symbols) == DPU_ERR_ELF_NO_SUCH_SECTION);

    /* It has no run-time system. */
    dpu_elf_get_runtime_info(file, &info);
    CHECK(!info.printf_buffer.exists && info.printf_buffer.value == UINT32_MAX);
    CHECK(!info.mcount.exists && info.mcount.value == 0);
    CHECK(info.barrier_info.nr_symbols == 0);
    free_runtime_info(&info);

    DPU_ASSERT(dpu_elf_load_symbols(file, ".text", &symbols));
    CHECK(symbols->nr_symbols >= 3);
    dpu_elf_free_symbols(symbols);
    CHECK(symbols->nr_symbols == 0 && symbols->map == NULL);
    dpu_elf_close(file);
    CHECK(dpu_elf_load_section(file, ".text", &size, &text) == DPU_ERR_ELF_INVALID_FILE);
}

static void compiled(const char *path)
{
    struct dpu_set_t set;
    struct dpu_program_t *program;
    struct dpu_symbol_t symbol;
    dpu_elf_symbol_t factor, input;
    dpu_elf_runtime_info_t info;
    dpu_elf_file_t file;

    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    DPU_ASSERT(dpu_load(set, path, &program));
    DPU_ASSERT(dpu_elf_open(path, &file));
    CHECK(found(file, "factor", &factor) && found(file, "input", &input));
    DPU_ASSERT(dpu_get_symbol(program, "factor", &symbol));
    CHECK(symbol.address == factor.value && symbol.size == factor.size);
    DPU_ASSERT(dpu_get_symbol(program, "input", &symbol));
    CHECK(symbol.address == input.value && symbol.size == input.size);
    dpu_elf_get_runtime_info(file, &info);
    CHECK(info.nr_threads.exists && info.nr_threads.value == 4);
    CHECK(info.printf_buffer.exists && info.printf_buffer.size == 1024);
    CHECK(info.printf_buffer.value == (uint32_t)program->printf_buffer_address);
    free_runtime_info(&info);
    dpu_elf_close(file);
    DPU_ASSERT(dpu_free(set));
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    instructions(argv[2]);
    compiled(argv[1]);
    printf("ok\n");
    return 0;
}
