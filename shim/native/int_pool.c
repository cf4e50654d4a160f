/* Pooling of integers (PDP) on NVDLA's layouts: the arithmetic of nvdla/hw/units/pdp/reference.py.
 *
 * A pixel's channels of one surface lie side by side, so loops go over them.
 * Source of the rules: nvdla/hw cmod/pdp/NV_NVDLA_pdp.cpp.
 */
#include "native/cpu.h"
#include "native/int_average.h"
#include "native/native.h"

#include <string.h>

#include "native/parallel.h"
#include "native/pool_span.h"

#pragma GCC optimize("O3")

static int64_t rounded(int64_t value)
{
    return (value + (1 << 15) + (value >> 63)) >> 16;
}

#define EXTREME(name, type, better)                                                         \
    INLINE void name(const struct sim_pool *p, const uint8_t *from, struct span rows,       \
                     struct span columns, uint8_t *to)                                      \
    {                                                                                       \
        type best[MAX_ATOM];                                                                \
        int atom = p->input.atom;                                                           \
        for (int c = 0; c < atom; c++)                                                      \
            best[c] = (type)p->fill;                                                        \
        for (int y = rows.first; y < rows.last; y++)                                        \
            for (int x = columns.first; x < columns.last; x++) {                            \
                const type *values =                                                        \
                    (const type *)(from + y * p->input.line + x * p->input.pixel);          \
                for (int c = 0; c < atom; c++)                                              \
                    best[c] = values[c] better best[c] ? values[c] : best[c];               \
            }                                                                               \
        memcpy(to, best, sizeof(type) * (size_t)atom);                                      \
    }

EXTREME(largest8, int8_t, >)
EXTREME(smallest8, int8_t, <)
EXTREME(largest16, int16_t, >)
EXTREME(smallest16, int16_t, <)

INLINE void average(const struct sim_pool *p, const uint8_t *from, struct span rows,
                    struct span columns, uint8_t *to)
{
    int32_t sums[MAX_ATOM] = {0};
    int atom = p->input.atom, item = p->input.item;
    int down = rows.last - rows.first, across = columns.last - columns.first;
    for (int y = rows.first; y < rows.last; y++)
        for (int x = columns.first; x < columns.last; x++) {
            const uint8_t *at = from + y * p->input.line + x * p->input.pixel;
            if (item == 1)
                for (int c = 0; c < atom; c++)
                    sums[c] += (int8_t)at[c];
            else
                for (int c = 0; c < atom; c++)
                    sums[c] += ((const int16_t *)at)[c];
        }
    int64_t missing = (int64_t)down * p->pads[p->kernel_x - across] +
                      (int64_t)p->kernel_x * p->pads[p->kernel_y - down];
    for (int c = 0; c < atom; c++) {
        int64_t value = rounded((sums[c] + missing) * p->reciprocal_x);
        value = rounded(value * p->reciprocal_y);
        value = value < p->low ? p->low : value > p->high ? p->high : value;
        if (item == 1)
            to[c] = (uint8_t)value;
        else
            ((int16_t *)to)[c] = (int16_t)value;
    }
}

INLINE void pool_line_body(const struct sim_pool *p, int surface, int y)
{
    const uint8_t *from = p->input.base + surface * p->input.surface;
    uint8_t *to = p->output.base + surface * p->output.surface + y * p->output.line;
    struct span rows = inside(y, p->stride_y, p->kernel_y, p->pad_top, p->height);
    for (int x = 0; x < p->out_width; x++, to += p->output.pixel) {
        struct span columns = inside(x, p->stride_x, p->kernel_x, p->pad_left, p->width);
        if (p->method == SIM_POOL_AVERAGE)
            average(p, from, rows, columns, to);
        else if (p->method == SIM_POOL_MAXIMUM && p->input.item == 1)
            largest8(p, from, rows, columns, to);
        else if (p->method == SIM_POOL_MAXIMUM)
            largest16(p, from, rows, columns, to);
        else if (p->input.item == 1)
            smallest8(p, from, rows, columns, to);
        else
            smallest16(p, from, rows, columns, to);
    }
}

LEVELS(void, pool_line, (const struct sim_pool *p, int surface, int y), (p, surface, y))

struct run {
    const struct sim_pool *pool;
    int next, surfaces, failed;
};

enum { LINES_OF_STEP = 16 };

/* Sums of 64 products and of what pads are fit 32 bits. */
static int is_average_of_lines(const struct sim_pool *p)
{
    return p->method == SIM_POOL_AVERAGE && p->kernel_y <= 16 && p->kernel_x <= 16 &&
           sim_int_largest_pad(p) < 1 << 25 && p->input.pixel == (int64_t)p->input.item * p->input.atom &&
           p->output.pixel == p->input.pixel;
}

static void some_lines(void *argument)
{
    struct run *run = argument;
    const struct sim_pool *p = run->pool;
    int blocks = (p->out_height + LINES_OF_STEP - 1) / LINES_OF_STEP;
    int average = is_average_of_lines(p);
    struct int_sums sums;
    if (average && sim_int_sums_begin(&sums, p) != 0)
        __atomic_store_n(&run->failed, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&run->failed, __ATOMIC_RELAXED)) {
        int number = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
        if (number >= run->surfaces * blocks)
            break;
        int surface = number / blocks, y = number % blocks * LINES_OF_STEP;
        int last = y + LINES_OF_STEP < p->out_height ? y + LINES_OF_STEP : p->out_height;
        for (; y < last; y++)
            if (average)
                sim_int_average_line(p, surface, y, &sums);
            else
                pool_line(p, surface, y);
    }
    if (average)
        sim_int_sums_end(&sums);
}

int sim_int_pool(const struct sim_pool *pool)
{
    struct run run = {pool, 0, pool->output.channels / pool->output.atom, 0};
    if (pool->input.atom > MAX_ATOM)
        return -1;
    double lines = (double)run.surfaces * pool->out_height;
    double taps = lines * pool->out_width * pool->kernel_y * pool->kernel_x;
    sim_parallel(some_lines, &run, sim_threads_for(taps / 4));
    return run.failed ? -1 : 0;
}
