/* Local response normalisation of fp16 (CDP) on NVDLA's layouts: the arithmetic of
 * nvdla/hw/units/cdp/reference.py, FP17 values and FP32 squares, some pixels with all their channels at a time.
 *
 * Source of the rules: nvdla/hw cmod/cdp/NV_NVDLA_cdp.cpp, cmod/hls_wrapper/cdp_hls_wrapper.cpp.
 */
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/half.h"
#include "native/half_17.h"
#include "native/half_lut.h"
#include "native/parallel.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

/* [pixel][channel], squares with `reach` channels of zeros on both sides. */
struct scratch {
    double *values, *squares, *results;
    float *singles, *single_squares; /* the same of numbers that float holds */
    struct sim_lut_counts looked_up;
    int64_t nan_inputs, infinite_inputs, nan_outputs;
};

INLINE void load_body(const struct sim_cdp *cdp, const uint8_t *from, struct scratch *s,
                        double *restrict values)
{
    const struct sim_cube *cube = &cdp->input;
    int atom = cube->atom, zero = cdp->nan_to_zero;
    for (int first = 0; first < cube->channels; first += atom, from += cube->surface) {
        const uint16_t *patterns = (const uint16_t *)from;
        int32_t nans = 0, infinities = 0;
        for (int c = 0; c < atom; c++) {
            nans += (patterns[c] & 0x7fff) > 0x7c00;
            infinities += (patterns[c] & 0x7fff) == 0x7c00;
        }
        s->nan_inputs += nans;
        s->infinite_inputs += infinities;
        for (int c = 0; c < atom; c++) {
            double value = half_value(patterns[c], FP17.largest);
            values[first + c] = choose(FLAG(zero && value != value), 0.0, value);
        }
    }
    for (int c = cdp->channels; c < cube->channels; c++)
        values[c] = 0.0;
}

LEVELS(void, load, (const struct sim_cdp *cdp, const uint8_t *from, struct scratch *s, double *restrict values), (cdp, from, s, values))

/* Neighbours in pairs, the centre after the first pair. */
INLINE void add_squares_body(const double *values, double *squares, double *restrict sums,
                               int channels, int reach)
{
    for (int c = 0; c < channels; c++)
        squares[reach + c] = half_multiply(values[c], values[c], FP32);
    for (int step = 1; step <= reach; step++) {
        const double *centre = squares + reach;
        const double *left = centre - step, *right = centre + step;
        if (step == 1)
            for (int c = 0; c < channels; c++)
                sums[c] = half_add(half_add(left[c], right[c], FP32), centre[c], FP32);
        else
            for (int c = 0; c < channels; c++)
                sums[c] = half_add(sums[c], half_add(left[c], right[c], FP32), FP32);
    }
}

LEVELS(void, add_squares, (const double *values, double *squares, double *restrict sums, int channels, int reach), (values, squares, sums, channels, reach))

INLINE void store_body(const struct sim_cdp *cdp, const double *values, const double *results,
                         uint8_t *to, int64_t *nan_outputs)
{
    const struct sim_cube *cube = &cdp->output;
    int atom = cube->atom, multiply = cdp->multiply;
    for (int first = 0; first < cube->channels; first += atom, to += cube->surface) {
        uint16_t *patterns = (uint16_t *)to;
        int32_t nans = 0;
        for (int c = 0; c < atom; c++) {
            double value = values[first + c], factor = results[first + c];
            double product = half_multiply(value, factor, FP17);
            /* a NaN passes without multiplication, too */
            double alone = choose(FLAG(value != value), value, factor);
            patterns[c] = half_pattern(choose(FLAG(multiply), product, alone));
        }
        for (int c = 0; c < atom; c++)
            nans += (patterns[c] & 0x7fff) > 0x7c00;
        *nan_outputs += nans;
    }
}

LEVELS(void, store, (const struct sim_cdp *cdp, const double *values, const double *results, uint8_t *to, int64_t *nan_outputs), (cdp, values, results, to, nan_outputs))

/* --- without NaNs ---------------------------------------------------------------------------- */

/*
 * Then float is FP32 here: a square has 22 bits and lies far from the least and the largest number, a sum
 * is rounded once. The neighbours' order is that of add_squares.
 */
INLINE void singles_of_body(const struct sim_cdp *cdp, const uint8_t *from, float *restrict values,
                            float *restrict squares, double *restrict sums, const int f16c)
{
    const struct sim_cube *cube = &cdp->input;
    int atom = cube->atom, channels = cube->channels, reach = cdp->reach;
    for (int first = 0; first < channels; first += HALVES) {
        const uint8_t *at = from + first / atom * cube->surface + 2 * (first % atom);
        uint16_t patterns[HALVES];
        memcpy(patterns, at, sizeof patterns);
        for (int c = 0; c < HALVES; c++)
            patterns[c] = (patterns[c] & 0x7fff) > 0x7c00 ? 0 : patterns[c];
        halves_to_singles(patterns, values + first, LARGEST17, f16c);
    }
    for (int c = cdp->channels; c < channels; c++)
        values[c] = 0.0f;
    if (reach == 0) {
        for (int c = 0; c < channels; c++)
            sums[c] = values[c];
        return;
    }
    float *restrict centre = squares + reach;
    for (int c = 0; c < channels; c++)
        centre[c] = values[c] * values[c];
    if (reach == 2) /* as most networks have it */
        for (int c = 0; c < channels; c++)
            sums[c] = (squares[c + 1] + squares[c + 3] + squares[c + 2]) + (squares[c] + squares[c + 4]);
    else
        for (int c = 0; c < channels; c++) {
            float sum = squares[c + reach - 1] + squares[c + reach + 1] + squares[c + reach];
            for (int step = 2; step <= reach; step++)
                sum += squares[c + reach - step] + squares[c + reach + step];
            sums[c] = sum;
        }
}

LEVELS_OF_HALVES(void, singles_of,
                 (const struct sim_cdp *cdp, const uint8_t *from, float *restrict values,
                  float *restrict squares, double *restrict sums),
                 cdp, from, values, squares, sums)

/* Replaces the values by what is stored. */
INLINE void store_singles_body(const struct sim_cdp *cdp, float *restrict values,
                               const double *restrict results, uint8_t *to, const int f16c)
{
    const struct sim_cube *cube = &cdp->output;
    const int atom = cube->atom, channels = cube->channels;
    if (cdp->multiply)
        for (int c = 0; c < channels; c++)
            values[c] = multiply_17(values[c], (float)results[c]);
    else
        for (int c = 0; c < channels; c++)
            values[c] = (float)results[c];
    for (int first = 0; first < channels; first += HALVES) {
        uint16_t patterns[HALVES];
        singles_to_halves(values + first, patterns, f16c);
        memcpy(to + first / atom * cube->surface + 2 * (first % atom), patterns, sizeof patterns);
    }
}

LEVELS_OF_HALVES(void, store_singles,
                 (const struct sim_cdp *cdp, float *restrict values, const double *restrict results,
                  uint8_t *to),
                 cdp, values, results, to)

INLINE void count_body(const struct sim_cdp *cdp, const uint8_t *from, int pixels, struct scratch *s)
{
    const struct sim_cube *cube = &cdp->input;
    int32_t nans = 0, infinities = 0;
    for (int first = 0; first < cube->channels; first += cube->atom, from += cube->surface)
        for (int p = 0; p < pixels; p++) {
            const uint16_t *patterns = (const uint16_t *)(from + p * cube->pixel);
            for (int c = 0; c < cube->atom; c++) {
                nans += (patterns[c] & 0x7fff) > 0x7c00;
                infinities += (patterns[c] & 0x7fff) == 0x7c00;
            }
        }
    s->nan_inputs += nans;
    s->infinite_inputs += infinities;
}

LEVELS(void, count, (const struct sim_cdp *cdp, const uint8_t *from, int pixels, struct scratch *s), (cdp, from, pixels, s))

INLINE int has_nan_body(const double *values, int count)
{
    uint64_t found = 0;
    for (int i = 0; i < count; i++)
        found |= FLAG(values[i] != values[i]);
    return found != 0;
}

LEVELS(int, has_nan, (const double *values, int count), (values, count))

/* 0: there are NaNs; nothing has been done. */
static int some_singles(const struct sim_cdp *cdp, struct scratch *s, const uint8_t *from, uint8_t *to,
                        int pixels)
{
    const int channels = cdp->input.channels, row = channels + 2 * cdp->reach;
    const int64_t nans = s->nan_inputs, infinities = s->infinite_inputs;
    if (cdp->input.atom % HALVES != 0)
        return 0;
    count(cdp, from, pixels, s);
    if (s->nan_inputs != nans && !cdp->nan_to_zero) {
        s->nan_inputs = nans;
        s->infinite_inputs = infinities;
        return 0;
    }
    for (int p = 0; p < pixels; p++)
        singles_of(cdp, from + p * cdp->input.pixel, s->singles + p * channels,
                   s->single_squares + p * row, s->results + p * channels);
    sim_half_lut_apply(cdp->lut, s->results, pixels * channels, &s->looked_up);
    if (has_nan(s->results, pixels * channels)) { /* of the tables */
        for (int i = 0; i < pixels * channels; i++)
            s->values[i] = s->singles[i];
        for (int p = 0; p < pixels; p++)
            store(cdp, s->values + p * channels, s->results + p * channels,
                  to + p * cdp->output.pixel, &s->nan_outputs);
        return 1;
    }
    for (int p = 0; p < pixels; p++)
        store_singles(cdp, s->singles + p * channels, s->results + p * channels,
                      to + p * cdp->output.pixel);
    return 1;
}

/* --- the layer ------------------------------------------------------------------------------- */

static void some_pixels(const struct sim_cdp *cdp, struct scratch *s, int y, int x, int pixels)
{
    int channels = cdp->input.channels, row = channels + 2 * cdp->reach;
    const uint8_t *from = cdp->input.base + y * cdp->input.line + x * cdp->input.pixel;
    uint8_t *to = cdp->output.base + y * cdp->output.line + x * cdp->output.pixel;
    if (some_singles(cdp, s, from, to, pixels))
        return;
    for (int p = 0; p < pixels; p++) {
        double *values = s->values + p * channels, *results = s->results + p * channels;
        load(cdp, from + p * cdp->input.pixel, s, values);
        if (cdp->reach)
            add_squares(values, s->squares + p * row, results, channels, cdp->reach);
        else
            memcpy(results, values, sizeof *results * (size_t)channels);
    }
    sim_half_lut_apply(cdp->lut, s->results, pixels * channels, &s->looked_up);
    for (int p = 0; p < pixels; p++)
        store(cdp, s->values + p * channels, s->results + p * channels,
              to + p * cdp->output.pixel, &s->nan_outputs);
}

struct run {
    struct sim_cdp *cdp;
    int next, pixels, failed;
};

static void some_lines(void *argument)
{
    struct run *run = argument;
    struct sim_cdp *cdp = run->cdp;
    size_t channels = (size_t)cdp->input.channels, pixels = (size_t)run->pixels;
    size_t row = channels + 2 * (size_t)cdp->reach;
    struct scratch s = {.nan_inputs = 0};
    s.values = malloc(sizeof(double) * pixels * channels);
    s.results = malloc(sizeof(double) * pixels * channels);
    s.squares = calloc(pixels * row, sizeof(double));
    s.singles = malloc(sizeof(float) * pixels * channels);
    s.single_squares = calloc(pixels * row, sizeof(float));
    if (s.values == NULL || s.results == NULL || s.squares == NULL || s.singles == NULL ||
        s.single_squares == NULL)
        __atomic_store_n(&run->failed, 1, __ATOMIC_RELAXED);
    else
        for (;;) {
            int y = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
            if (y >= cdp->height)
                break;
            for (int x = 0; x < cdp->width; x += run->pixels) {
                int count = cdp->width - x < run->pixels ? cdp->width - x : run->pixels;
                some_pixels(cdp, &s, y, x, count);
            }
        }
    free(s.values);
    free(s.results);
    free(s.squares);
    free(s.singles);
    free(s.single_squares);
    __atomic_fetch_add(&cdp->nan_inputs, s.nan_inputs, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cdp->infinite_inputs, s.infinite_inputs, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cdp->nan_outputs, s.nan_outputs, __ATOMIC_RELAXED);
    sim_lut_add(cdp->lut, &s.looked_up);
}

enum { VALUES_AT_ONCE = 768 };

int sim_half_cdp(struct sim_cdp *cdp)
{
    struct run run = {.cdp = cdp, .pixels = VALUES_AT_ONCE / cdp->input.channels};
    run.pixels = run.pixels < 1 ? 1 : run.pixels;
    cdp->clipped = cdp->nan_inputs = cdp->infinite_inputs = cdp->nan_outputs = 0;
    sim_half_lut_begin(cdp->lut);
    double elements = (double)cdp->height * cdp->width * cdp->input.channels;
    sim_parallel(some_lines, &run, sim_threads_for(elements * 15));
    return run.failed ? -1 : 0;
}
