/* fp16: look-up tables for each kind of instructions against one another; then what pooling,
 * normalisation and SDP make of random halves, as a number that is the same on every machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/half.h"
#include "native/half_lut.h"
#include "native/native.h"

static uint64_t state = 99;

static uint32_t any(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static uint16_t any_half(void)
{
    static const uint16_t odd[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e01, 0xfc03, 1, 0x83ff, 0x7bff};
    if (any(8) == 0)
        return odd[any(sizeof odd / sizeof *odd)];
    return (uint16_t)(any(2) << 15 | (0x2c00 + any(0x2000)));
}

static uint64_t hash = 1469598103934665603u;

static void note(const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * 1099511628211u;
}

static double any_number(const struct format f)
{
    return half_value(any_half(), f.largest);
}

static void any_lut(struct sim_lut *lut)
{
    memset(lut, 0, sizeof *lut);
    lut->cdp = (int)any(2), lut->linear = (int)any(2);
    lut->under = (int)any(2), lut->over = (int)any(2), lut->hybrid = (int)any(2);
    lut->exponent = (int)any(20) - 12;
    for (int i = 0; i < 322; i++)
        lut->entries[i] = any_number(FP17);
    for (int i = 0; i < 2; i++) {
        lut->start[i] = any_number(FP32);
        lut->scale[i] = __builtin_ldexp(1.0, (int)any(12) - 4);
        for (int side = 0; side < 2; side++) {
            lut->origin[i][side] = any_number(FP32);
            lut->slope[i][side] = any_number(FP17);
        }
    }
}

/* The kinds of instructions that there are below a level. */
static const char *const kinds[] = {
    "portable",
#if defined(__x86_64__)
    "avx2",
    "avx512",
#endif
};

static int tables(const char *level)
{
    size_t count = 1;
#if defined(__x86_64__)
    count += sim_cpu() & SIM_CPU_AVX2 ? 1 : 0;
    count += sim_cpu() & SIM_CPU_AVX512 ? 1 : 0;
#endif
    for (int run = 0; run < 300; run++) {
        struct sim_lut lut;
        double inputs[61], first[61];
        struct sim_lut_counts first_counts = {0};
        any_lut(&lut);
        for (int i = 0; i < 61; i++)
            inputs[i] = any_number(FP32) * 37.5;
        for (size_t kind = 0; kind < count; kind++) {
            double values[61];
            struct sim_lut_counts counts = {0};
            memcpy(values, inputs, sizeof values);
            sim_isa(kinds[kind]);
            sim_half_lut_apply(&lut, values, 61, &counts);
            if (kind == 0) {
                memcpy(first, values, sizeof first);
                first_counts = counts;
            } else if (memcmp(first, values, sizeof first) != 0 ||
                       memcmp(&first_counts, &counts, sizeof counts) != 0)
                return 1;
        }
        for (int i = 0; i < 61; i++) {
            uint16_t pattern = half_pattern(first[i]);
            note(&pattern, 2);
        }
        note(&first_counts, sizeof first_counts);
    }
    sim_isa(level);
    return 0;
}

enum { HEIGHT = 6, WIDTH = 9, SURFACES = 2, ATOM = 16 };

static struct sim_cube cube(uint16_t *data, int height, int width)
{
    struct sim_cube it = {.base = (uint8_t *)data, .atom = ATOM, .channels = SURFACES * ATOM};
    it.item = it.element = 2;
    it.pixel = 2 * ATOM;
    it.line = width * it.pixel;
    it.surface = height * it.line;
    return it;
}

static int layers(void)
{
    size_t size = SURFACES * HEIGHT * WIDTH * ATOM * 2;
    uint16_t *in = malloc(size), *more = malloc(size), *out = malloc(size);
    int failed = 0;
    for (int run = 0; run < 60 && !failed; run++) {
        for (size_t i = 0; i < size / 2; i++) {
            in[i] = any_half();
            more[i] = any_half();
        }
        memset(out, 0, size);
        struct sim_half_pool pool = {
            .input = cube(in, HEIGHT, WIDTH), .output = cube(out, 3, 4), .method = (int)any(3),
            .height = HEIGHT, .width = WIDTH, .out_height = 3, .out_width = 4,
            .kernel_y = 3, .kernel_x = 3, .stride_y = 2, .stride_x = 2, .pad_top = 1, .pad_left = 1,
            .nan_to_zero = (int)any(2), .across = {0, any_number(FP17), any_number(FP17)},
            .down = {0, any_number(FP17), any_number(FP17)},
            .reciprocal_y = any_number(FP17), .reciprocal_x = any_number(FP17),
        };
        failed |= sim_half_pool(&pool);
        note(out, size);
        note(&pool.nan_inputs, 3 * sizeof(int64_t));
        struct sim_lut lut;
        any_lut(&lut);
        lut.cdp = 1;
        struct sim_cdp cdp = {
            .input = cube(in, HEIGHT, WIDTH), .output = cube(out, HEIGHT, WIDTH),
            .height = HEIGHT, .width = WIDTH, .channels = 20 + (int)any(13), .reach = (int)any(5),
            .multiply = (int)any(2), .nan_to_zero = (int)any(2), .lut = &lut,
        };
        failed |= sim_half_cdp(&cdp);
        note(out, size);
        note(&cdp.nan_inputs, 3 * sizeof(int64_t));
        struct sim_lut other;
        any_lut(&other);
        other.cdp = 0;
        struct sim_sdp sdp = {
            .height = HEIGHT, .width = WIDTH, .channels = SURFACES * ATOM, .stage_count = 2,
            .output = cube(out, HEIGHT, WIDTH), .output_half = (int)any(2), .count_nan = 1,
            .nan_to_zero = (int)any(2), .count_saturation = 1, .lut = any(2) ? &other : NULL,
        };
        for (int s = 0; s < 2; s++) {
            struct sim_stage *stage = &sdp.stages[s];
            static const int algorithms[] = {SIM_ALU_MAX, SIM_ALU_MIN, SIM_ALU_SUM, SIM_ALU_NONE};
            stage->y = (int)any(2), stage->alu = algorithms[any(4)], stage->mul = (int)any(2);
            stage->prelu = (int)any(2), stage->relu = (int)any(2);
            stage->alu_operand.kind = SIM_ELEMENTS;
            stage->alu_operand.cube = cube(more, HEIGHT, WIDTH);
            stage->mul_operand.kind = SIM_NUMBER;
            stage->mul_operand.number = any_number(FP32);
        }
        struct sim_cube input = cube(in, HEIGHT, WIDTH);
        failed |= sim_half_sdp(&input, &sdp);
        note(out, size);
        note(&sdp.saturated, sizeof sdp.saturated);
        note(&sdp.nan_outputs, sizeof sdp.nan_outputs);
    }
    free(in);
    free(more);
    free(out);
    return failed;
}

int main(int count, char **words)
{
    const char *level = count > 1 ? words[1] : "machine";
    sim_isa(level);
    int wrong = tables(level);
    if (wrong)
        printf("tables: the kinds of instructions differ\n");
    wrong |= layers();
    printf("%016llx\n", (unsigned long long)hash);
    return wrong;
}
