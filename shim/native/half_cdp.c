/* Local response normalisation of fp16 (CDP) on NVDLA's layouts: the arithmetic of
 * nvdla/hw/units/cdp/reference.py, FP17 values and FP32 squares, some pixels with all their channels at a time.
 *
 * Source of the rules: nvdla/hw cmod/cdp/NV_NVDLA_cdp.cpp, cmod/hls_wrapper/cdp_hls_wrapper.cpp.
 */
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/half.h"
#include "native/half_lut.h"
#include "native/parallel.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

/* [pixel][channel], squares with `reach` channels of zeros on both sides. */
struct scratch {
    double *values, *squares, *results;
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

static void some_pixels(const struct sim_cdp *cdp, struct scratch *s, int y, int x, int pixels)
{
    int channels = cdp->input.channels, row = channels + 2 * cdp->reach;
    const uint8_t *from = cdp->input.base + y * cdp->input.line + x * cdp->input.pixel;
    uint8_t *to = cdp->output.base + y * cdp->output.line + x * cdp->output.pixel;
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
    if (s.values == NULL || s.results == NULL || s.squares == NULL)
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
