/* Every implementation of the dot products that this machine has, against loops: random tiles with
 * buffers that end where the last element does, so that sanitizers see what reads or writes too far. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/int_dot.h"
#include "native/int_wide.h"
#include "native/native.h"

static uint32_t state = 12345;

static int number(int below)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)below);
}

static int value(int bits, int extreme)
{
    int half = 1 << (bits - 1);
    if (extreme)
        return number(2) ? -half : half - 1;
    return number(2 * half) - half;
}

struct shape {
    int runs, groups, pixels, kernels, extreme;
    int mixed; /* small weights and the largest ones */
};

static int16_t weight_at(const int16_t *weights, const struct shape *s, const struct sim_dot *dot,
                         int run, int element, int kernel)
{
    int length = s->groups * dot->group;
    return weights[((size_t)run * (size_t)length + (size_t)element) * (size_t)s->kernels +
                   (size_t)kernel];
}

static void put(uint8_t *to, int item, size_t index, int number_)
{
    int16_t wide = (int16_t)number_;
    if (item == 1)
        to[index] = (uint8_t)number_;
    else
        memcpy(to + 2 * index, &wide, 2);
}

/* Those that are whole, and which groups may exceed 32 bits. */
static uint8_t *whole(const int16_t *weights, const struct shape *s, const struct sim_dot *dot)
{
    size_t groups = (size_t)(s->runs * s->groups), count = groups * (size_t)(4 * s->kernels), at = 0;
    uint8_t *packed = malloc(2 * count + groups * (size_t)(s->kernels / dot->block) + 7), *apart = packed + 2 * count;
    for (int first = 0; first < s->kernels; first += dot->block)
        for (int group = 0; group < s->runs * s->groups; group++) {
            int size[8][2] = {{0}};
            for (int i = 0; i < 8 * 4; i++) {
                int kernel = i % 16 / 2, element = i / 16 * 2 + i % 2;
                int w = weight_at(weights, s, dot, group / s->groups, group % s->groups * 4 + element,
                                  first + kernel);
                put(packed, 2, at++, w);
                size[kernel][element / 2] += abs(w);
            }
            *apart = number(8) == 0; /* more than needed */
            for (int k = 0; k < 8; k++) {
                int pair = size[k][0] > size[k][1] ? size[k][0] : size[k][1];
                int needed = pair > 65535 ? 2 : size[k][0] + size[k][1] > 65535;
                *apart = (uint8_t)(*apart > needed ? *apart : needed);
            }
            apart++;
        }
    memset(apart, 1, 7);
    return packed;
}

/* Weights as the implementation wants them. */
static uint8_t *arranged(const int16_t *weights, const struct shape *s, const struct sim_dot *dot,
                         int wide)
{
    if (dot->whole)
        return whole(weights, s, dot);
    int parts = wide ? 2 : 1, block = dot->block ? dot->block : s->kernels;
    size_t count = (size_t)s->runs * (size_t)(s->groups * dot->group * s->kernels * parts);
    uint8_t *packed = malloc(count * (size_t)dot->item);
    size_t at = 0;
    for (int first = 0; first < s->kernels; first += block)
        for (int run = 0; run < s->runs; run++)
            for (int group = 0; group < s->groups; group++)
                for (int part = 0; part < parts; part++)
                    for (int kernel = first; kernel < first + block; kernel++)
                        for (int i = 0; i < dot->group; i++) {
                            int w = weight_at(weights, s, dot, run, group * dot->group + i, kernel);
                            int low = (int8_t)w;
                            put(packed, dot->item, at++, !wide ? w : part ? (w - low) / 256 : low);
                        }
    return packed;
}

static int differs(const struct sim_dot *dot, int wide, const struct shape *s)
{
    int length = s->groups * dot->group, bits = wide ? 16 : 8, found = 0;
    size_t elements = (size_t)(s->runs * length);
    int16_t *weights = malloc(elements * (size_t)s->kernels * sizeof *weights);
    for (size_t i = 0; i < elements * (size_t)s->kernels; i++)
        weights[i] = (int16_t)(!s->mixed       ? value(bits, s->extreme)
                               : number(8) == 0 ? value(bits, 1)
                                                : value(bits - 2, 0));
    uint8_t *packed = arranged(weights, s, dot, wide);
    int64_t *runs = malloc((size_t)s->runs * sizeof *runs);
    for (int run = 0; run < s->runs; run++)
        runs[run] = (int64_t)(s->runs - 1 - run) * length * dot->item; /* not in order */
    size_t sums = (size_t)(s->pixels * s->kernels);
    int32_t *start = malloc((size_t)s->kernels * sizeof *start);
    for (int k = 0; k < s->kernels; k++)
        start[k] = wide ? 0 : number(1000) - 500;
    struct sim_dot_tile tile = {
        .runs = runs, .run_count = (size_t)s->runs, .groups = (size_t)s->groups,
        .weights = packed, .start = start,
        .sums = wide ? NULL : malloc(sums * sizeof(int32_t)),
        .wide = wide ? malloc(sums * sizeof(int64_t)) : NULL,
    };
    int16_t *data[SIM_DOT_PIXELS];
    for (int p = 0; p < s->pixels; p++) {
        data[p] = malloc(elements * sizeof *data[p]);
        uint8_t *frame = malloc(elements * (size_t)dot->item);
        for (size_t i = 0; i < elements; i++) {
            data[p][i] = (int16_t)value(bits, s->extreme || s->mixed);
            put(frame, dot->item, i, data[p][i] + dot->offset);
        }
        tile.pixels[p] = frame;
    }
    if (dot->whole)
        tile.apart = packed + 2 * elements * (size_t)s->kernels;
    for (size_t i = 0; wide && i < sums; i++)
        tile.wide[i] = -7; /* what is there is added to */
    dot->run(&tile, s->pixels, s->kernels);
    for (int p = 0; p < s->pixels && !found; p++)
        for (int k = 0; k < s->kernels && !found; k++) {
            int64_t expected = wide ? -7 : start[k];
            for (int run = 0; run < s->runs; run++)
                for (int i = 0; i < length; i++)
                    expected += (int64_t)(data[p][(s->runs - 1 - run) * length + i] + dot->offset) *
                                weight_at(weights, s, dot, run, i, k);
            int64_t result =
                wide ? tile.wide[p * s->kernels + k] : tile.sums[p * s->kernels + k];
            if (!wide)
                expected = (int32_t)(uint32_t)expected; /* these wrap */
            found = result != expected;
        }
    for (int p = 0; p < s->pixels; p++) {
        free(data[p]);
        free((void *)tile.pixels[p]);
    }
    free(tile.sums);
    free(tile.wide);
    free(weights);
    free(packed);
    free(runs);
    free(start);
    return found;
}

static int check(const struct sim_dot *dot, int wide)
{
    if (!dot->supported())
        return 0;
    for (int i = 0; i < 150; i++) {
        struct shape s = {
            .runs = 1 + number(4),
            .groups = 1 + (i % 10 == 0 ? 200 + number(400) : number(20)),
            .pixels = 1 + number(dot->pixels),
            .kernels = 16 * (1 + number(dot->kernels / 16)),
            .extreme = i % 3 == 0,
            .mixed = i % 3 == 1,
        };
        if (differs(dot, wide, &s)) {
            printf("%s%s: wrong sums: %d runs of %d groups, %d pixels, %d kernels\n", dot->name,
                   wide ? " (wide)" : "", s.runs, s.groups, s.pixels, s.kernels);
            return 1;
        }
    }
    printf("%s%s is right\n", dot->name, wide ? " (wide)" : "");
    return 0;
}

int main(int count, char **words)
{
    if (count > 1)
        sim_isa(words[1]);
    int wrong = 0;
    for (int i = 0; i < sim_dot_count; i++)
        wrong |= check(&sim_dots[i], 0);
    for (int i = 0; i < sim_wide_count; i++)
        wrong |= check(&sim_wides[i], 1);
    return wrong;
}
