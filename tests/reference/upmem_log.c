/* What DPUs have printed, to a stream and through a function of the program; texts of errors. */
#include <dpu.h>
#include <dpu_log.h>
#include <dpu_log_internals.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <dpu_program.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define MRAM_SIZE (64 << 20)

/* A dpu_log_print_fct_t that collects the text; `at` is how much it has. */
struct text {
    char characters[256];
    size_t at;
};

static dpu_error_t collect(void *argument, const char *format, ...)
{
    struct text *into = argument;
    va_list values;

    va_start(values, format);
    into->at += (size_t)vsnprintf(into->characters + into->at,
                                  sizeof into->characters - into->at, format, values);
    va_end(values);
    return DPU_OK;
}

static void is_written(FILE *stream, const char *expected)
{
    char found[256];

    rewind(stream);
    size_t length = fread(found, 1, sizeof found - 1, stream);
    found[length] = 0;
    CHECK(strcmp(found, expected) == 0);
    fclose(stream);
}

/* Buffers of programs in DPU instructions hold formats, a zero byte and arguments. */
static void messages(void)
{
    struct text text = { .at = 0 }, none = { .at = 0 }, plain = { .at = 0 };
    char buffer[] = "%s%d%s\0n = \0\xfb\xff\xff\xff\n\0\0\0"
                    "%u%s\0\x2a\0\0\0!\n\0\0\0\0";
    char cut[] = "%d\0\x01";
    char percent[] = "% done: 50 %\n\0\0";

    DPU_ASSERT(dpulog_read_and_display_contents_of(buffer, sizeof buffer, collect, &text));
    CHECK(strcmp(text.characters, "n = -5\n42!\n") == 0);
    DPU_ASSERT(dpulog_read_and_display_contents_of(NULL, 0, collect, &none));
    CHECK(none.at == 0);
    CHECK(dpulog_read_and_display_contents_of(cut, 4, collect, &none) == DPU_ERR_LOG_FORMAT);
    DPU_ASSERT(dpulog_read_and_display_contents_of(percent, sizeof percent, collect, &plain));
    CHECK(strcmp(plain.characters, "% done: 50 %\n") == 0);
}

int main(int argc, char **argv)
{
    char expected[256];
    uint8_t buffer[64];
    struct dpu_set_t set;
    struct dpu_program_t *program;
    struct text text = { .at = 0 }, other = { .at = 0 };
    FILE *stream = tmpfile(), *printed = tmpfile();

    CHECK(argc > 1 && stream != NULL && printed != NULL);
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], &program));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    struct dpu_t *dpu = dpu_get(dpu_rank_from_set(set), 1, 0);

    /* dpu_log_read alone writes a head. */
    DPU_ASSERT(dpulog_read_for_dpu(dpu, stream));
    DPU_ASSERT(dpu_log_read(dpu_set_from_dpu(dpu), stream));
    snprintf(expected, sizeof expected, "launch 1\n" DPU_LOG_FORMAT_HEADER "launch 1\n",
             dpu_get_id(dpu));
    is_written(stream, expected);

    DPU_ASSERT(dpulog_read_for_dpu_(dpu, collect, &text));
    CHECK(strcmp(text.characters, "launch 1\n") == 0);
    DPU_ASSERT(dpulog_c_print_fct(printed, "%s %d\n", "DPU", 7));
    is_written(printed, "DPU 7\n");

    /* The text lies in MRAM: the host can keep the buffer, and read it later. */
    const mram_addr_t at = (mram_addr_t)program->printf_buffer_address;
    CHECK(at < MRAM_SIZE && program->mcount_address == 0);
    CHECK(program->printf_buffer_size == 1024);
    DPU_ASSERT(dpu_copy_from_mram(dpu, buffer, at, sizeof buffer));
    DPU_ASSERT(dpulog_read_and_display_contents_of(buffer, sizeof buffer, collect, &other));
    CHECK(strcmp(other.characters, "launch 1\n") == 0);
    messages();

    /* The caller frees the text. */
    char *why = dpu_error_to_string(DPU_ERR_DPU_FAULT);
    CHECK(strcmp(why, "dpu is in fault") == 0);
    free(why);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
