/* Programs that the host has in its own memory instead of in files, and their symbols. */
#include <dpu.h>
#include <stdint.h>

#include "check.h"

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *contents = malloc(*size);
    CHECK(contents != NULL);
    CHECK(fread(contents, 1, *size, file) == *size);
    fclose(file);
    return contents;
}

static uint32_t launched(struct dpu_set_t set)
{
    struct dpu_set_t dpu;
    uint32_t launches = 0;

    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu) {
        DPU_ASSERT(dpu_copy_from(dpu, "launches", 0, &launches, sizeof launches));
    }
    return launches;
}

int main(int argc, char **argv)
{
    struct dpu_set_t set;
    struct dpu_program_t *program;
    struct dpu_symbol_t symbol;
    size_t size;

    CHECK(argc > 1);
    uint8_t *image = read_file(argv[1], &size);
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load_from_memory(set, image, size, &program));
    CHECK(launched(set) == 1);
    CHECK(launched(set) == 2);

    /* DPU_INCBIN defines such a structure for a file that is known when the host is compiled. */
    struct dpu_incbin_t incbin = { .buffer = image, .size = size, .path = argv[1] };
    DPU_ASSERT(dpu_load_from_incbin(set, &incbin, &program));
    CHECK(launched(set) == 1);
    CHECK(dpu_load_from_memory(set, image, size / 2, NULL) == DPU_ERR_ELF_INVALID_FILE);
    free(image);

    DPU_ASSERT(dpu_get_symbol(program, "factor", &symbol));
    CHECK(symbol.address < 65536 && symbol.size == sizeof(uint32_t));
    DPU_ASSERT(dpu_get_symbol(program, "input", &symbol));
    CHECK(symbol.address >> 27 == 1 && symbol.size == 32 * sizeof(uint64_t));
    CHECK(dpu_get_symbol(program, "no such symbol", &symbol) == DPU_ERR_UNKNOWN_SYMBOL);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
