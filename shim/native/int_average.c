/* The arithmetic is that of int_pool.c; products of a sum and a reciprocal are doubles, which hold them. */
#include "native/int_average.h"

#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/int_short.h"
#include "native/int_twos.h"
#include "native/parts.h"
#include "native/pool_columns.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

/* Whole parts. */
static size_t line_size(const struct sim_pool *p)
{
    return ((size_t)p->input.atom * (size_t)p->out_width + PART - 1) / PART * PART;
}

/*
 * How averages are computed: with doubles; with sizes of 32 bits, which hold both products, the second
 * one, or those of upper and lower bits; with sums of 16 bits (int_short.h); two by two (int_twos.h).
 */
enum { DOUBLES, PARTS_32, SECOND_32, WHOLE_32, SHORT, TWOS };

int64_t sim_int_largest_pad(const struct sim_pool *p)
{
    int64_t found = 0;
    for (int i = 0; i < 17; i++) {
        int64_t size = p->pads[i] < 0 ? -(int64_t)p->pads[i] : p->pads[i];
        found = size > found ? size : found;
    }
    return found;
}

static int narrowness(const struct sim_pool *p)
{
    const int64_t across = p->reciprocal_x, down = p->reciprocal_y;
    const int64_t limit = ((int64_t)1 << 32) - (1 << 18);
    int64_t most = (p->input.item == 1 ? 128 : 32768) * (int64_t)p->kernel_x * p->kernel_y;
    int64_t pad = (p->kernel_x + p->kernel_y) * sim_int_largest_pad(p);
    most += pad;
    if (sim_int_is_twos(p, pad))
        return TWOS;
    if (sim_int_is_short(p, most))
        return SHORT;
    if (across < 0 || down < 0 || across > 1 << 16 || down > 1 << 16)
        return DOUBLES;
    int64_t next = (most * across >> 16) + 1;
    if (next * down < limit)
        return most * across < limit ? WHOLE_32 : most / 256 * across < limit ? SECOND_32 : DOUBLES;
    return most / 256 * across < limit && next / 256 * down < limit ? PARTS_32 : DOUBLES;
}

int sim_int_sums_begin(struct int_sums *sums, const struct sim_pool *p)
{
    sums->lines = calloc(line_size(p) * (size_t)p->kernel_y, sizeof(int32_t));
    sums->missing = calloc(line_size(p), sizeof(int32_t));
    sums->zeros = calloc(line_size(p), sizeof(int32_t));
    sums->missing_of = -1;
    sums->padded = sim_int_largest_pad(p) != 0;
    sums->narrow = narrowness(p);
    for (int i = 0; i < p->kernel_y; i++)
        sums->held[i] = -1;
    return sums->lines == NULL || sums->missing == NULL || sums->zeros == NULL ? -1 : 0;
}

void sim_int_sums_end(struct int_sums *sums)
{
    free(sums->lines);
    free(sums->missing);
    free(sums->zeros);
}

SUMS_OF_COLUMNS(columns8, int8_t, int16_t, int32_t) /* of at most 16 columns */
SUMS_OF_COLUMNS(columns16, int16_t, int32_t, int32_t)

INLINE void columns_of_body(const struct sim_pool *p, const void *row, int32_t *to)
{
    const int atom = p->input.atom;
    if (p->input.item == 1 && atom == 32)
        columns8(p, row, to, 32);
    else if (p->input.item == 1)
        columns8(p, row, to, atom);
    else if (atom == 16)
        columns16(p, row, to, 16);
    else
        columns16(p, row, to, atom);
}

LEVELS(void, columns_of, (const struct sim_pool *p, const void *row, int32_t *to), (p, row, to))

/* Half away from zero. */
INLINE double rounded(double value)
{
    return __builtin_trunc(value + __builtin_copysign(0.5, value));
}

/* A rounded product of a size with a reciprocal; `whole`: it has 32 bits. */
INLINE uint32_t times(uint32_t size, uint32_t factor, const int whole)
{
    if (whole)
        return (size * factor + (1 << 15)) >> 16;
    uint32_t low = (size & 255) * factor + (1 << 15);
    return ((size >> 8) * factor + (low >> 8)) >> 8;
}

/* Rounding away from zero is the same for a number and its size. */
INLINE int32_t averaged(int32_t total, int32_t across, int32_t down, const int first,
                        const int second)
{
    int32_t sign = total >> 31;
    uint32_t size = (uint32_t)((total ^ sign) - sign);
    size = times(times(size, (uint32_t)across, first), (uint32_t)down, second);
    return ((int32_t)size ^ sign) - sign;
}

INLINE void rows_of_body(const struct sim_pool *p, const int32_t *const *lines, int count,
                         const int32_t *missing, void *to, int narrow)
{
    const int all = p->out_width * p->input.atom, item = p->input.item;
    const int32_t across = p->reciprocal_x, down = p->reciprocal_y;
    const double by_x = across * 0x1p-16, by_y = down * 0x1p-16;
    const int32_t low = p->low, high = p->high;
    for (int done = 0; done < all; done += PART) {
        int some = all - done < PART ? all - done : PART;
        int32_t total[PART];
        const int32_t *none = missing + done, *first = lines[0] + done;
        const int32_t *second = lines[1] + done, *third = lines[2] + done;
#pragma GCC ivdep
        for (int k = 0; k < PART; k++)
            total[k] = none[k] + first[k] + second[k] + third[k];
        for (int i = 3; i < count; i++) {
            const int32_t *line = lines[i] + done;
#pragma GCC ivdep
            for (int k = 0; k < PART; k++)
                total[k] += line[k];
        }
        if (narrow == WHOLE_32)
            for (int k = 0; k < PART; k++)
                total[k] = averaged(total[k], across, down, 1, 1);
        else if (narrow == SECOND_32)
            for (int k = 0; k < PART; k++)
                total[k] = averaged(total[k], across, down, 0, 1);
        else if (narrow == PARTS_32)
            for (int k = 0; k < PART; k++)
                total[k] = averaged(total[k], across, down, 0, 0);
        else
            for (int k = 0; k < PART; k++)
                total[k] = (int32_t)rounded(rounded(total[k] * by_x) * by_y);
        for (int k = 0; k < PART; k++) {
            int32_t value = total[k] < low ? low : total[k];
            total[k] = value > high ? high : value;
        }
        union {
            int8_t bytes[PART];
            int16_t words[PART];
        } found;
        if (item == 1)
            for (int k = 0; k < PART; k++)
                found.bytes[k] = (int8_t)total[k];
        else
            for (int k = 0; k < PART; k++)
                found.words[k] = (int16_t)total[k];
        if (some == PART && item == 1)
            copy_part(&found, (uint8_t *)to + done, PART);
        else if (some == PART)
            copy_part(&found, (uint8_t *)to + 2 * done, 2 * PART);
        else
            copy_some(&found, (uint8_t *)to + done * item, some * item);
    }
}

LEVELS(void, rows_of,
       (const struct sim_pool *p, const int32_t *const *lines, int count, const int32_t *missing,
        void *to, int narrow),
       (p, lines, count, missing, to, narrow))

static void add_columns(const struct sim_pool *p, const void *row, int32_t *to, int narrow)
{
    if (narrow == SHORT)
        sim_int_short_columns(p, row, (int16_t *)to);
    else if (narrow == TWOS)
        sim_int_twos_columns(p, row, to, (int)line_size(p) / 2);
    else
        columns_of(p, row, to);
}

static void average_rows(const struct sim_pool *p, const int32_t *const *lines, int count,
                         const int32_t *missing, void *to, int narrow)
{
    if (narrow == SHORT)
        sim_int_short_rows(p, (const int16_t *const *)lines, count, (const int16_t *)missing, to);
    else if (narrow == TWOS)
        sim_int_twos_rows(p, lines, missing, to, (int)line_size(p) / 2);
    else
        rows_of(p, lines, count, missing, to, narrow);
}

/* What pads add to windows with `down` lines of the input. */
static void find_missing(const struct sim_pool *p, int down, struct int_sums *sums)
{
    int atom = sums->narrow == TWOS ? p->input.atom / 2 : p->input.atom;
    sums->missing_of = down;
    for (int x = 0; x < p->out_width; x++) {
        struct span columns = inside(x, p->stride_x, p->kernel_x, p->pad_left, p->width);
        int32_t all = down * p->pads[p->kernel_x - (columns.last - columns.first)] +
                      p->kernel_x * p->pads[p->kernel_y - down];
        for (int c = 0; c < atom; c++)
            if (sums->narrow == SHORT)
                ((int16_t *)sums->missing)[x * atom + c] = (int16_t)all;
            else
                sums->missing[x * atom + c] = all;
    }
}

void sim_int_average_line(const struct sim_pool *p, int surface, int y, struct int_sums *sums)
{
    struct span rows = inside(y, p->stride_y, p->kernel_y, p->pad_top, p->height);
    int down = rows.last - rows.first;
    size_t size = line_size(p);
    const int32_t *lines[17];
    for (int row = rows.first; row < rows.last; row++) {
        int slot = row % p->kernel_y, number = surface * p->height + row;
        int32_t *to = sums->lines + size * (size_t)slot;
        if (sums->held[slot] != number) {
            add_columns(p, p->input.base + surface * p->input.surface + row * p->input.line, to,
                        sums->narrow);
            sums->held[slot] = number;
        }
        lines[row - rows.first] = to;
    }
    if (sums->padded && sums->missing_of != down)
        find_missing(p, down, sums);
    for (int i = down; i < 3; i++)
        lines[i] = sums->zeros;
    average_rows(p, lines, down, sums->missing,
                 p->output.base + surface * p->output.surface + y * p->output.line, sums->narrow);
}
