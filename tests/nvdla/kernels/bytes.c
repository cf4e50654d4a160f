/* Depthwise sums and SDP of bytes from sums, for all instructions of this machine, against loops in
 * 64-bit integers. Prints what was compared; "wrong" where something is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/int_brief.h"
#include "native/int_diagonal.h"
#include "native/native.h"

enum { TAPS = 10, CHANNELS = 32, WIDTH = 12, PIXELS = 6 };

static uint32_t state = 1;

static int32_t number(int32_t low, int32_t high)
{
    state = state * 1664525u + 1013904223u;
    return low + (int32_t)((uint64_t)(state >> 4) * (uint64_t)(high - low + 1) >> 28);
}

static int depthwise(const struct sim_dot *dot)
{
    static int16_t frame[TAPS * WIDTH * CHANNELS + 128], weights[TAPS * CHANNELS];
    int32_t sums[SIM_DOT_PIXELS * SIM_DOT_KERNELS];
    int64_t runs[TAPS];
    int wrong = 0;
    for (size_t i = 0; i < sizeof frame / sizeof *frame; i++)
        frame[i] = (int16_t)number(-128, 127);
    for (int taps = 2; taps <= TAPS; taps += 2)
        for (int kernels = 16; kernels <= CHANNELS; kernels += 16)
            for (int pixels = 1; pixels <= PIXELS; pixels++) {
                struct sim_dot_tile tile = {.runs = runs, .run_count = (size_t)taps, .groups = 1,
                                            .weights = weights, .sums = sums};
                for (int i = 0; i < taps; i++)
                    runs[i] = (int64_t)sizeof *frame * (WIDTH - PIXELS) * CHANNELS * i;
                for (int i = 0; i < taps * kernels; i++)
                    weights[i] = (int16_t)number(-128, 127);
                for (int p = 0; p < pixels; p++)
                    tile.pixels[p] = (const uint8_t *)(frame + p * CHANNELS);
                dot->run(&tile, pixels, kernels);
                for (int p = 0; p < pixels; p++)
                    for (int k = 0; k < kernels; k++) {
                        int64_t sum = 0;
                        for (int i = 0; i < taps; i++)
                            sum += (int64_t)frame[((WIDTH - PIXELS) * i + p) * CHANNELS + k] *
                                   weights[(i / 2 * kernels + k) * 2 + i % 2];
                        wrong += sum != sums[p * kernels + k];
                    }
            }
    return wrong;
}

static int64_t rounded(int64_t value, int shift)
{
    int64_t half = (int64_t)1 << shift >> 1, size = value < 0 ? -value : value;
    size = (size + half) >> shift;
    return value < 0 ? -size : size;
}

static int to_bytes(const char *instructions)
{
    enum { ALL = 80, ATOM = 32 };
    static const int factors[] = {1, -1, 2, 255, 16384, 32767, -32768};
    static const int shifts[] = {0, 1, 2, 7, 14, 25};
    int16_t added[ALL], multiplied[ALL];
    int8_t output[3][PIXELS][ATOM];
    int32_t sums[PIXELS * SIM_TILE_CHANNELS];
    int wrong = 0, used = 0;
    for (int round = 0; round < 400; round++) {
        int offset = round % 5 ? number(-128, 128) : 0;
        int shift = shifts[round % 6], relu = round & 1, size = round % 3 == 0 ? 300 : 1 << 24;
        struct sim_sdp sdp = {
            .height = 1, .width = PIXELS, .channels = ALL, .stage_count = 1,
            .offset = offset, .factor = 1.0, .low = -128, .high = 127,
            .output = {(uint8_t *)output, sizeof output[0], PIXELS * ATOM, ATOM, 1, ATOM, ALL, 1},
        };
        struct sim_stage *stage = &sdp.stages[0];
        *stage = (struct sim_stage){.alu = SIM_ALU_SUM, .mul = 1, .relu = relu, .shift = shift};
        stage->alu_operand.kind = stage->mul_operand.kind = SIM_CHANNELS;
        stage->alu_operand.cube = (struct sim_cube){.base = (uint8_t *)added, .element = 2, .item = 2};
        stage->mul_operand.cube =
            (struct sim_cube){.base = (uint8_t *)multiplied, .element = 2, .item = 2};
        for (int c = 0; c < ALL; c++) {
            added[c] = (int16_t)number(-3000, 3000);
            multiplied[c] = (int16_t)factors[number(0, 6)];
        }
        struct sim_sdp_run run;
        struct sim_brief brief;
        if (sim_sdp_begin(&run, &sdp) != 0)
            return 1;
        if (sim_brief_begin(&brief, &run, size, instructions) != 1)
            return 1;
        int64_t clipped = 0, expected = 0;
        memset(output, 0x55, sizeof output);
        for (int first = 0; first < ALL; first += 64) {
            static struct sim_tile tile;
            int kernels = first ? 16 : 64;
            sim_tile_begin(&tile);
            tile.pixel = 0;
            tile.pixels = PIXELS;
            tile.channel = first;
            tile.channels = kernels;
            for (int i = 0; i < PIXELS * kernels; i++)
                sums[i] = number(-size, size);
            sim_brief_tile(&brief, &run, &tile, sums, kernels);
            clipped += tile.clipped;
            for (int p = 0; p < PIXELS; p++)
                for (int k = 0; k < kernels; k++) {
                    int c = first + k;
                    int64_t v = (int64_t)sums[p * kernels + k] + added[c];
                    v = rounded(v * multiplied[c], shift);
                    v = (relu && v < 0 ? 0 : v) - offset;
                    int64_t kept = v < -128 ? -128 : v > 127 ? 127 : v;
                    expected += kept != v;
                    wrong += output[c / ATOM][p][c % ATOM] != kept;
                    used++;
                }
        }
        wrong += clipped != expected;
        sim_brief_end(&brief);
        sim_sdp_end(&run);
    }
    return used == 0 ? 1 : wrong;
}

int main(int count, char **words)
{
    if (count > 1)
        sim_isa(words[1]);
    int wrong = 0;
    for (int i = 0; i < sim_diagonal_count; i++) {
        const struct sim_dot *dot = &sim_diagonals[i];
        if (!dot->supported())
            continue;
        int sums = depthwise(dot), bytes = to_bytes(dot->name);
        printf("%s: %s, %s\n", dot->name, sums ? "wrong" : "sums", bytes ? "wrong" : "bytes");
        wrong += sums + bytes;
    }
    return wrong != 0;
}
