/* Local response normalisation of integers (CDP) on NVDLA's layouts: the arithmetic of
 * nvdla/hw/units/cdp/reference.py, some pixels with all their channels at a time.
 *
 * Source of the rules: nvdla/hw cmod/cdp/NV_NVDLA_cdp.cpp, cmod/hls/cdp_libs.
 */
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/int_lut.h"
#include "native/parallel.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

INLINE double clip(double value, double low, double high)
{
    value = value < low ? low : value;
    return value > high ? high : value;
}

INLINE double rounded(double value)
{
    return __builtin_trunc(value + __builtin_copysign(0.5, value));
}

/* [pixel][channel], squares with `reach` channels of zeros on both sides. */
struct scratch {
    double *values, *squares, *results;
    int32_t *numbers, *numbers_out;
    struct sim_lut_counts looked_up;
    int64_t clipped;
    int is_brief;
    struct sim_lut_brief brief;
};

INLINE void load_body(const struct sim_cdp *cdp, const uint8_t *from, double *values)
{
    const struct sim_cube *cube = &cdp->input;
    double offset = cdp->in_offset, factor = cdp->in_factor;
    double low = -cdp->in_limit, high = cdp->in_limit - 1;
    int channels = cdp->channels, atom = cube->atom;
    for (int first = 0; first < channels; first += atom, from += cube->surface) {
        int count = channels - first < atom ? channels - first : atom;
        if (cube->item == 1)
            for (int c = 0; c < count; c++)
                values[first + c] = clip(rounded(((int8_t)from[c] - offset) * factor), low, high);
        else
            for (int c = 0; c < count; c++) {
                int16_t value = (int16_t)(from[2 * c] | from[2 * c + 1] << 8);
                values[first + c] = clip(rounded((value - offset) * factor), low, high);
            }
    }
    for (int c = channels; c < cube->channels; c++)
        values[c] = 0.0;
}

LEVELS(void, load, (const struct sim_cdp *cdp, const uint8_t *from, double *values), (cdp, from, values))

INLINE void add_squares_body(const double *values, double *squares, double *restrict sums,
                               int channels, int reach)
{
    for (int c = 0; c < channels; c++)
        squares[reach + c] = values[c] * values[c];
    memcpy(sums, squares + reach, sizeof *sums * (size_t)channels);
    for (int step = 1; step <= reach; step++) {
        const double *left = squares + reach - step, *right = squares + reach + step;
        for (int c = 0; c < channels; c++)
            sums[c] += left[c] + right[c];
    }
}

LEVELS(void, add_squares, (const double *values, double *squares, double *restrict sums, int channels, int reach), (values, squares, sums, channels, reach))

/* The output converter; how many values it cut. */
INLINE int64_t convert_body(const struct sim_cdp *cdp, const double *restrict values,
                              double *restrict results, int count)
{
    double offset = cdp->out_offset, factor = cdp->out_factor, low = cdp->low, high = cdp->high;
    int64_t clipped = 0;
    if (cdp->multiply)
        for (int i = 0; i < count; i++)
            results[i] *= values[i];
    for (int i = 0; i < count; i++) {
        double exact = rounded((results[i] - offset) * factor), limited = clip(exact, low, high);
        clipped += limited != exact;
        results[i] = limited;
    }
    return clipped;
}

LEVELS(int64_t, convert, (const struct sim_cdp *cdp, const double *restrict values, double *restrict results, int count), (cdp, values, results, count))

INLINE void store_body(const struct sim_cube *cube, const double *results, uint8_t *to)
{
    int atom = cube->atom;
    for (int first = 0; first < cube->channels; first += atom, to += cube->surface) {
        const double *values = results + first;
        if (cube->item == 1)
            for (int c = 0; c < atom; c++)
                to[c] = (uint8_t)(int32_t)values[c];
        else
            for (int c = 0; c < atom; c++) {
                int32_t value = (int32_t)values[c];
                to[2 * c] = (uint8_t)value;
                to[2 * c + 1] = (uint8_t)(value >> 8);
            }
    }
}

LEVELS(void, store, (const struct sim_cube *cube, const double *results, uint8_t *to), (cube, results, to))

/* --- where factors have 32 bits -------------------------------------------------------------- */

/* What the input converter makes of some pixels. */
INLINE void numbers_of_body(const struct sim_cdp *cdp, const uint8_t *from, int pixels, int32_t *numbers)
{
    const struct sim_cube *cube = &cdp->input;
    const double offset = cdp->in_offset, factor = cdp->in_factor;
    const double low = -cdp->in_limit, high = cdp->in_limit - 1;
    const int channels = cdp->channels, atom = cube->atom, is_plain = offset == 0 && factor == 1;
    for (int p = 0; p < pixels; p++, numbers += cube->channels) {
        const uint8_t *at = from + p * cube->pixel;
        for (int first = 0; first < channels; first += atom, at += cube->surface) {
            int32_t *restrict to = numbers + first;
            if (cube->item == 1) {
                const int8_t *restrict values = (const int8_t *)at;
                for (int c = 0; c < atom; c++)
                    to[c] = values[c];
            } else {
                const int16_t *restrict values = (const int16_t *)at;
                for (int c = 0; c < atom; c++)
                    to[c] = values[c];
            }
            if (!is_plain)
                for (int c = 0; c < atom; c++)
                    to[c] = (int32_t)clip(rounded((to[c] - offset) * factor), low, high);
        }
        for (int c = channels; c < cube->channels; c++)
            numbers[c] = 0;
    }
}

LEVELS(void, numbers_of, (const struct sim_cdp *cdp, const uint8_t *from, int pixels, int32_t *numbers),
       (cdp, from, pixels, numbers))

/* Sums over the neighbours of some pixels; `squares`: room for one of them, with zeros on both sides. */
#define SUMS(name, type)                                                                           INLINE void name(const int32_t *restrict numbers, type *restrict squares, type *restrict sums,                      int pixels, const int channels, const int reach)                              {                                                                                                  for (int p = 0; p < pixels; p++, numbers += channels, sums += channels) {                          for (int c = 0; c < channels; c++)                                                                 squares[reach + c] = (type)numbers[c] * (type)numbers[c];                                  if (reach == 2) /* as most networks have it */                                                     for (int c = 0; c < channels; c++)                                                                 sums[c] = squares[c] + squares[c + 1] + squares[c + 2] + squares[c + 3] +                                squares[c + 4];                                                              else                                                                                               for (int c = 0; c < channels; c++) {                                                               type sum = squares[c];                                                                         for (int i = 1; i <= 2 * reach; i++)                                                               sum += squares[c + i];                                                                     sums[c] = sum;                                                                             }                                                                                      }                                                                                          }

SUMS(add_integers, int32_t)
SUMS(add_doubles, double)

INLINE void sums_32_body(const int32_t *numbers, int32_t *squares, int32_t *sums, int pixels, int channels,
                         int reach)
{
    add_integers(numbers, squares, sums, pixels, channels, reach);
}

INLINE void sums_of_body(const int32_t *numbers, double *squares, double *sums, int pixels, int channels,
                         int reach)
{
    add_doubles(numbers, squares, sums, pixels, channels, reach);
}

LEVELS(void, sums_32,
       (const int32_t *numbers, int32_t *squares, int32_t *sums, int pixels, int channels, int reach),
       (numbers, squares, sums, pixels, channels, reach))
LEVELS(void, sums_of,
       (const int32_t *numbers, double *squares, double *sums, int pixels, int channels, int reach),
       (numbers, squares, sums, pixels, channels, reach))

/* The output converter; how many values it cut. */
INLINE int64_t converted_body(const struct sim_cdp *cdp, const int32_t *restrict numbers,
                              int32_t *restrict results, int count)
{
    const double offset = cdp->out_offset, factor = cdp->out_factor, low = cdp->low, high = cdp->high;
    const int multiply = cdp->multiply;
    int32_t clipped = 0;
    for (int i = 0; i < count; i++) {
        double value = results[i];
        if (multiply)
            value *= numbers[i];
        double exact = rounded((value - offset) * factor), limited = clip(exact, low, high);
        clipped += limited != exact;
        results[i] = (int32_t)limited;
    }
    return clipped;
}

LEVELS(int64_t, converted,
       (const struct sim_cdp *cdp, const int32_t *numbers, int32_t *results, int count),
       (cdp, numbers, results, count))

INLINE void stored_body(const struct sim_cube *cube, const int32_t *results, uint8_t *to, int pixels)
{
    const int atom = cube->atom;
    for (int p = 0; p < pixels; p++, to += cube->pixel) {
        uint8_t *at = to;
        for (int first = 0; first < cube->channels; first += atom, results += atom, at += cube->surface) {
            const int32_t *restrict values = results;
            if (cube->item == 1) {
                int8_t *restrict bytes = (int8_t *)at;
                for (int c = 0; c < atom; c++)
                    bytes[c] = (int8_t)values[c];
            } else {
                int16_t *restrict words = (int16_t *)at;
                for (int c = 0; c < atom; c++)
                    words[c] = (int16_t)values[c];
            }
        }
    }
}

LEVELS(void, stored, (const struct sim_cube *cube, const int32_t *results, uint8_t *to, int pixels),
       (cube, results, to, pixels))

static void some_brief_pixels(const struct sim_cdp *cdp, struct scratch *s, const uint8_t *from, uint8_t *to,
                              int pixels)
{
    const int channels = cdp->input.channels, count = pixels * channels;
    int32_t *numbers = s->numbers, *results = s->numbers_out;
    numbers_of(cdp, from, pixels, numbers);
    if (s->brief.narrow && (cdp->reach == 0 || cdp->in_limit <= 256)) { /* at most 9 x 2^16 */
        int32_t *sums = (int32_t *)s->results;
        if (cdp->reach)
            sums_32(numbers, (int32_t *)s->squares, sums, pixels, channels, cdp->reach);
        sim_lut_look_up_32(&s->brief, cdp->reach ? sums : numbers, results, count, &s->looked_up);
    } else {
        if (cdp->reach)
            sums_of(numbers, s->squares, s->results, pixels, channels, cdp->reach);
        else
            for (int i = 0; i < count; i++)
                s->results[i] = numbers[i];
        sim_lut_look_up(&s->brief, s->results, results, count, &s->looked_up);
    }
    s->clipped += converted(cdp, numbers, results, count);
    stored(&cdp->output, results, to, pixels);
}

/* --- the layer ------------------------------------------------------------------------------- */

static void some_pixels(const struct sim_cdp *cdp, struct scratch *s, int y, int x, int pixels)
{
    int channels = cdp->input.channels, row = channels + 2 * cdp->reach;
    const uint8_t *from = cdp->input.base + y * cdp->input.line + x * cdp->input.pixel;
    uint8_t *to = cdp->output.base + y * cdp->output.line + x * cdp->output.pixel;
    if (s->is_brief) {
        some_brief_pixels(cdp, s, from, to, pixels);
        return;
    }
    for (int p = 0; p < pixels; p++) {
        double *values = s->values + p * channels, *results = s->results + p * channels;
        load(cdp, from + p * cdp->input.pixel, values);
        if (cdp->reach)
            add_squares(values, s->squares + p * row, results, channels, cdp->reach);
        else
            memcpy(results, values, sizeof *results * (size_t)channels);
    }
    sim_lut_apply(cdp->lut, s->results, pixels * channels, &s->looked_up);
    s->clipped += convert(cdp, s->values, s->results, pixels * channels);
    for (int p = 0; p < pixels; p++)
        store(&cdp->output, s->results + p * channels, to + p * cdp->output.pixel);
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
    struct scratch s = {.clipped = 0};
    s.values = malloc(sizeof(double) * pixels * channels);
    s.results = malloc(sizeof(double) * pixels * channels);
    s.squares = calloc(pixels * row, sizeof(double));
    s.numbers = malloc(sizeof(int32_t) * pixels * channels);
    s.numbers_out = malloc(sizeof(int32_t) * pixels * channels);
    s.is_brief = sim_lut_brief(cdp->lut, &s.brief);
    if (s.values == NULL || s.results == NULL || s.squares == NULL || s.numbers == NULL ||
        s.numbers_out == NULL)
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
    free(s.numbers);
    free(s.numbers_out);
    __atomic_fetch_add(&cdp->clipped, s.clipped, __ATOMIC_RELAXED);
    sim_lut_add(cdp->lut, &s.looked_up);
}

enum { VALUES_AT_ONCE = 768 };

int sim_int_cdp(struct sim_cdp *cdp)
{
    struct run run = {.cdp = cdp, .pixels = VALUES_AT_ONCE / cdp->input.channels};
    run.pixels = run.pixels < 1 ? 1 : run.pixels;
    cdp->clipped = 0;
    sim_lut_begin(cdp->lut);
    double elements = (double)cdp->height * cdp->width * cdp->input.channels;
    sim_parallel(some_lines, &run, sim_threads_for(elements * 4));
    return run.failed ? -1 : 0;
}
