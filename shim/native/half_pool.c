/* Pooling of fp16 (PDP) on NVDLA's layouts: the arithmetic of nvdla/hw/units/pdp/reference.py.
 *
 * Source of the rules: nvdla/hw cmod/pdp/NV_NVDLA_pdp.cpp.
 */
#include "native/cpu.h"
#include "native/native.h"

#include <string.h>

#include "native/half.h"
#include "native/half_average.h"
#include "native/parallel.h"
#include "native/pool_span.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

INLINE const uint16_t *pixel(const struct sim_half_pool *p, const uint8_t *from, int y, int x)
{
    return (const uint16_t *)(from + y * p->input.line + x * p->input.pixel);
}

/* Numbers in the order of their values, with -0 before 0, as integers, and back. */
INLINE int16_t ordered(uint16_t pattern)
{
    int16_t value = (int16_t)pattern;
    return (int16_t)(value ^ (value >> 15 & 0x7fff));
}

INLINE uint16_t cleared(uint16_t pattern, int nan_to_zero)
{
    return nan_to_zero && (pattern & 0x7fff) > 0x7c00 ? 0 : pattern;
}

/* The best element of each channel; whether there was a NaN. */
INLINE int best(const struct sim_half_pool *p, const uint8_t *from, struct span rows,
                struct span columns, uint16_t *to, const int maximum)
{
    int atom = p->input.atom, zero = p->nan_to_zero;
    int16_t found[MAX_ATOM], size[MAX_ATOM];
    for (int c = 0; c < atom; c++) {
        found[c] = maximum ? -32768 : 32767;
        size[c] = 0;
    }
    for (int y = rows.first; y < rows.last; y++)
        for (int x = columns.first; x < columns.last; x++) {
            const uint16_t *values = pixel(p, from, y, x);
            for (int c = 0; c < atom; c++) {
                uint16_t value = cleared(values[c], zero);
                int16_t place = ordered(value), magnitude = (int16_t)(value & 0x7fff);
                found[c] = (maximum ? place > found[c] : place < found[c]) ? place : found[c];
                size[c] = magnitude > size[c] ? magnitude : size[c];
            }
        }
    int largest = 0;
    for (int c = 0; c < atom; c++) {
        largest = size[c] > largest ? size[c] : largest;
        to[c] = (uint16_t)ordered((uint16_t)found[c]);
    }
    return largest > 0x7c00;
}

/* The same for the channels of an atom of 32 bytes, as a vector. */
enum { USUAL_ATOM = 16 };
typedef int16_t Lanes __attribute__((vector_size(2 * USUAL_ATOM)));

/* No function: vectors are passed in ways that depend on the instructions. */
#define LARGER(one, other) (((one) & ((one) > (other))) | ((other) & ~((one) > (other))))

INLINE int best_lanes(const struct sim_half_pool *p, const uint8_t *from, struct span rows,
                      struct span columns, uint16_t *to, const int maximum)
{
    Lanes zero = {0}, found = zero + (int16_t)-32768, size = zero, odd = zero;
    const Lanes cleared_nan = zero - (int16_t)p->nan_to_zero, turned = maximum ? zero : ~zero;
    for (int y = rows.first; y < rows.last; y++)
        for (int x = columns.first; x < columns.last; x++) {
            Lanes value;
            memcpy(&value, pixel(p, from, y, x), sizeof value);
            value &= ~(((value & 0x7fff) > 0x7c00) & cleared_nan);
            Lanes magnitude = value & 0x7fff;
            size = LARGER(magnitude, size);
            value ^= (value >> 15 & 0x7fff) ^ turned; /* ~ reverses the order */
            found = LARGER(value, found);
        }
    found ^= turned;
    found ^= found >> 15 & 0x7fff;
    memcpy(to, &found, sizeof found);
    odd = size > 0x7c00;
    uint64_t any[sizeof odd / 8];
    memcpy(any, &odd, sizeof odd);
    return (any[0] | any[1] | any[2] | any[3]) != 0;
}

/* A NaN wins: the first one of the last line that has any. */
static void put_nans(const struct sim_half_pool *p, const uint8_t *from, struct span rows,
                     struct span columns, uint16_t *to)
{
    for (int c = 0; c < p->input.atom; c++)
        for (int y = rows.first; y < rows.last; y++)
            for (int x = columns.last - 1; x >= columns.first; x--) {
                uint16_t value = pixel(p, from, y, x)[c];
                if ((value & 0x7fff) > 0x7c00)
                    to[c] = value;
            }
}

/* Sums of lines, elements in order, then of these, a new one being the first operand. */
INLINE void average(const struct sim_half_pool *p, const uint8_t *from, struct span rows,
                    struct span columns, uint16_t *to, const int atom)
{
    double across = p->across[p->kernel_x - (columns.last - columns.first)];
    double down = p->down[p->kernel_y - (rows.last - rows.first)];
    double total[MAX_ATOM];
    for (int y = rows.first; y < rows.last; y++) {
        double line[MAX_ATOM];
        for (int x = columns.first; x < columns.last; x++) {
            const uint16_t *values = pixel(p, from, y, x);
            if (x == columns.first)
                for (int c = 0; c < atom; c++)
                    line[c] = half_value(cleared(values[c], p->nan_to_zero), FP17.largest);
            else
                for (int c = 0; c < atom; c++) {
                    double value = half_value(cleared(values[c], p->nan_to_zero), FP17.largest);
                    line[c] = half_add(line[c], value, FP17);
                }
        }
        if (across != 0)
            for (int c = 0; c < atom; c++)
                line[c] = half_add(line[c], across, FP17);
        if (y == rows.first)
            memcpy(total, line, sizeof *total * (size_t)atom);
        else
            for (int c = 0; c < atom; c++)
                total[c] = half_add(line[c], total[c], FP17);
    }
    for (int c = 0; c < atom; c++) {
        double value = down != 0 ? half_add(total[c], down, FP17) : total[c];
        value = half_multiply(value, p->reciprocal_x, FP17);
        to[c] = half_pattern(half_multiply(value, p->reciprocal_y, FP17));
    }
}

INLINE int64_t pool_some(const struct sim_half_pool *p, int surface, int y, const int atom)
{
    const uint8_t *from = p->input.base + surface * p->input.surface;
    uint8_t *to = p->output.base + surface * p->output.surface + y * p->output.line;
    struct span rows = inside(y, p->stride_y, p->kernel_y, p->pad_top, p->height);
    int64_t nans = 0;
    for (int x = 0; x < p->out_width; x++, to += p->output.pixel) {
        struct span columns = inside(x, p->stride_x, p->kernel_x, p->pad_left, p->width);
        uint16_t result[MAX_ATOM];
        int nan = 0;
        if (p->method == SIM_POOL_AVERAGE)
            average(p, from, rows, columns, result, atom);
        else if (atom == USUAL_ATOM && p->method == SIM_POOL_MAXIMUM)
            nan = best_lanes(p, from, rows, columns, result, 1);
        else if (atom == USUAL_ATOM)
            nan = best_lanes(p, from, rows, columns, result, 0);
        else
            nan = best(p, from, rows, columns, result, p->method == SIM_POOL_MAXIMUM);
        if (nan)
            put_nans(p, from, rows, columns, result);
        if (nan || p->method == SIM_POOL_AVERAGE) {
            int32_t odd = 0;
            for (int c = 0; c < atom; c++)
                odd += (result[c] & 0x7fff) > 0x7c00;
            nans += odd;
        }
        memcpy(to, result, sizeof *result * (size_t)atom);
    }
    return nans;
}

INLINE int64_t pool_line_body(const struct sim_half_pool *p, int surface, int y)
{
    return p->input.atom == USUAL_ATOM ? pool_some(p, surface, y, USUAL_ATOM)
                                       : pool_some(p, surface, y, p->input.atom);
}

LEVELS(int64_t, pool_line, (const struct sim_half_pool *p, int surface, int y), (p, surface, y))

INLINE void count_line_body(const struct sim_half_pool *p, int surface, int y, int64_t *nans,
                              int64_t *infinities)
{
    const uint8_t *from = p->input.base + surface * p->input.surface;
    const uint16_t *values = (const uint16_t *)(from + y * p->input.line); /* pixels in a row */
    const int count = p->width * p->input.atom;
    int32_t nan = 0, infinite = 0;
    uint16_t special = 0;
    for (int i = 0; i < count; i++)
        special |= (uint16_t)(0 - ((values[i] & 0x7fff) >= 0x7c00));
    if (!special)
        return;
    for (int i = 0; i < count; i++) {
        nan += (values[i] & 0x7fff) > 0x7c00;
        infinite += (values[i] & 0x7fff) == 0x7c00;
    }
    *nans += nan;
    *infinities += infinite;
}

LEVELS(void, count_line, (const struct sim_half_pool *p, int surface, int y, int64_t *nans, int64_t *infinities), (p, surface, y, nans, infinities))

struct run {
    struct sim_half_pool *pool;
    int next, next_in, surfaces, failed;
};

enum { LINES_OF_STEP = 16 };

static int is_average_of_lines(const struct sim_half_pool *p)
{
    return p->method == SIM_POOL_AVERAGE && p->input.pixel == 2 * (int64_t)p->input.atom &&
           p->output.pixel == p->input.pixel && p->kernel_y <= 16;
}

/* Lines of the input that no line of the output before y has: each is counted once. */
static void count_new(const struct sim_half_pool *p, int surface, int y, const struct half_sums *sums,
                      int64_t *nans, int64_t *infinities)
{
    int row = y == 0 ? 0 : inside(y - 1, p->stride_y, p->kernel_y, p->pad_top, p->height).last;
    int last = y == p->out_height - 1
                   ? p->height
                   : inside(y, p->stride_y, p->kernel_y, p->pad_top, p->height).last;
    for (; row < last; row++)
        if (!sim_half_is_finite(sums, p, surface, row))
            count_line(p, surface, row, nans, infinities);
}

static void some_lines(void *argument)
{
    struct run *run = argument;
    struct sim_half_pool *p = run->pool;
    int64_t nan_inputs = 0, infinite_inputs = 0, nan_outputs = 0;
    int average = is_average_of_lines(p);
    while (!average) {
        int number = __atomic_fetch_add(&run->next_in, 1, __ATOMIC_RELAXED);
        if (number >= run->surfaces * p->height)
            break;
        count_line(p, number / p->height, number % p->height, &nan_inputs, &infinite_inputs);
    }
    struct half_sums sums;
    if (average && sim_half_sums_begin(&sums, p) != 0)
        __atomic_store_n(&run->failed, 1, __ATOMIC_RELAXED);
    int blocks = (p->out_height + LINES_OF_STEP - 1) / LINES_OF_STEP;
    while (!__atomic_load_n(&run->failed, __ATOMIC_RELAXED)) {
        int number = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
        if (number >= run->surfaces * blocks)
            break;
        int surface = number / blocks, y = number % blocks * LINES_OF_STEP;
        int last = y + LINES_OF_STEP < p->out_height ? y + LINES_OF_STEP : p->out_height;
        for (; y < last; y++) {
            if (!average || !sim_half_average_line(p, surface, y, &sums))
                nan_outputs += pool_line(p, surface, y);
            if (average)
                count_new(p, surface, y, &sums, &nan_inputs, &infinite_inputs);
        }
    }
    if (average)
        sim_half_sums_end(&sums);
    __atomic_fetch_add(&p->nan_inputs, nan_inputs, __ATOMIC_RELAXED);
    __atomic_fetch_add(&p->infinite_inputs, infinite_inputs, __ATOMIC_RELAXED);
    __atomic_fetch_add(&p->nan_outputs, nan_outputs, __ATOMIC_RELAXED);
}

int sim_half_pool(struct sim_half_pool *pool)
{
    struct run run = {pool, 0, 0, pool->output.channels / pool->output.atom, 0};
    if (pool->input.atom > MAX_ATOM)
        return -1;
    pool->nan_inputs = pool->infinite_inputs = pool->nan_outputs = 0;
    double lines = (double)run.surfaces * pool->out_height * pool->out_width;
    double taps = lines * pool->kernel_y * pool->kernel_x * pool->input.atom;
    sim_parallel(some_lines, &run, sim_threads_for(taps / 4));
    return run.failed ? -1 : 0;
}
