/*
 * FP17 is float here: its numbers have 11 bits, so that float has more than twice as many, and a sum or a
 * product that is rounded to float first and to FP17 then is what rounding once gives. Windows with a NaN
 * are left to half_pool.c, which has the rules.
 */
#include "native/half_average.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/half_17.h"
#include "native/parts.h"
#include "native/pool_span.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

enum { USUAL_ATOM = 16 };

/* Whole parts. */
static size_t line_size(const struct sim_half_pool *p)
{
    return ((size_t)p->input.atom * (size_t)p->out_width + PART - 1) / PART * PART;
}

int sim_half_sums_begin(struct half_sums *sums, const struct sim_half_pool *p)
{
    size_t row = (size_t)p->input.atom * (size_t)p->width;
    sums->row = malloc(sizeof(float) * (row + PART));
    sums->lines = calloc(line_size(p) * (size_t)p->kernel_y, sizeof(float));
    if (sums->row == NULL || sums->lines == NULL)
        return -1;
    for (int i = 0; i < p->kernel_y; i++)
        sums->held[i] = -1;
    sums->plain = 1;
    for (int i = 0; i < 17; i++)
        sums->plain &= p->across[i] == 0 && p->down[i] == 0;
    return 0;
}

void sim_half_sums_end(struct half_sums *sums)
{
    free(sums->row);
    free(sums->lines);
}

/* What a line has: NaNs, or any that are not finite. */
enum { HAS_NAN = 1, HAS_SPECIAL = 2 };

INLINE int load_body(const uint16_t *restrict from, float *restrict to, int count, int nan_to_zero,
                     const int f16c)
{
    uint16_t odd = 0, found = 0, numbers[PART];
    for (int done = 0; done < count; done += PART) {
        int some = count - done < PART ? count - done : PART;
        const uint16_t *part = from + done;
        if (some < PART) {
            for (int i = 0; i < PART; i++)
                numbers[i] = 0;
            copy_some(from + done, numbers, 2 * some);
            part = numbers;
        }
        uint16_t special = 0;
        for (int i = 0; i < PART; i++)
            special |= (uint16_t)(0 - ((part[i] & 0x7fff) >= 0x7c00));
        if (!special) {
            for (int i = 0; i < PART; i += HALVES)
                halves_to_singles(part + i, to + done + i, INFINITY, f16c);
            continue;
        }
        found |= special;
        for (int i = 0; i < PART; i++) {
            uint16_t nan = (uint16_t)(0 - ((part[i] & 0x7fff) > 0x7c00));
            odd |= nan;
            numbers[i] = part[i] & (uint16_t)~nan;
        }
        for (int i = 0; i < PART; i += HALVES)
            halves_to_singles(numbers + i, to + done + i, LARGEST17, f16c);
    }
    return (odd != 0 && !nan_to_zero ? HAS_NAN : 0) | (found ? HAS_SPECIAL : 0);
}

LEVELS_OF_HALVES(int, load, (const uint16_t *from, float *to, int count, int nan_to_zero), from, to,
                 count, nan_to_zero)

/*
 * Sums of halves alone are 0 or at least 2^-24, and of at most 16 x 16 they are far from FP17's largest
 * number (`plain`): then they need rounding only.
 */
INLINE float add_of(float first, float second, const int plain)
{
    if (!plain)
        return add_17(first, second);
    float total = first + second;
    uint32_t bits = single_bits(total);
    uint32_t zero = single_bits(first) & 0x80000000 & FLAG32(total == 0);
    return single_of(((bits + (bits >> 13 & 1) + 0xfff) & 0xffffe000) | zero);
}

/* Three columns, as most kernels have, stay in registers. */
INLINE void add_columns(const struct sim_half_pool *p, const float *row, float *restrict to,
                        const int atom, const int plain)
{
    for (int x = 0; x < p->out_width; x++, to += atom) {
        struct span columns = inside(x, p->stride_x, p->kernel_x, p->pad_left, p->width);
        const float across = (float)p->across[p->kernel_x - (columns.last - columns.first)];
        const float *restrict from = row + columns.first * atom;
        if (columns.last - columns.first == 3 && across == 0) {
            for (int c = 0; c < atom; c++)
                to[c] = add_of(add_of(from[c], from[atom + c], plain), from[2 * atom + c], plain);
            continue;
        }
        float line[MAX_ATOM];
        for (int c = 0; c < atom; c++)
            line[c] = from[c];
        for (int i = columns.first + 1; i < columns.last; i++) {
            from += atom;
            for (int c = 0; c < atom; c++)
                line[c] = add_of(line[c], from[c], plain);
        }
        if (across != 0)
            for (int c = 0; c < atom; c++)
                line[c] = add_17(line[c], across);
        for (int c = 0; c < atom; c++)
            to[c] = line[c];
    }
}

INLINE void columns_of_body(const struct sim_half_pool *p, const float *row, float *to, int plain)
{
    if (p->input.atom == USUAL_ATOM && plain)
        add_columns(p, row, to, USUAL_ATOM, 1);
    else
        add_columns(p, row, to, p->input.atom, 0);
}

LEVELS(void, columns_of, (const struct sim_half_pool *p, const float *row, float *to, int plain),
       (p, row, to, plain))

/* A new line is the first operand. */
INLINE void add_rows(const struct sim_half_pool *p, const float *const *lines, int count,
                     uint16_t *restrict to, const int plain, const int f16c)
{
    const int all = p->out_width * p->input.atom;
    const float down = (float)p->down[p->kernel_y - count];
    const float by_x = (float)p->reciprocal_x, by_y = (float)p->reciprocal_y;
    for (int done = 0; done < all; done += PART) {
        int some = all - done < PART ? all - done : PART;
        float total[PART];
        uint16_t found[PART];
        if (plain && count == 3) { /* as most windows have */
            const float *first = lines[0] + done, *second = lines[1] + done, *third = lines[2] + done;
            for (int k = 0; k < PART; k++)
                total[k] = add_of(third[k], add_of(second[k], first[k], 1), 1);
        } else {
            copy_part(lines[0] + done, total, sizeof total);
            for (int i = 1; i < count; i++) {
                const float *line = lines[i] + done;
#pragma GCC ivdep
                for (int k = 0; k < PART; k++)
                    total[k] = add_of(line[k], total[k], plain);
            }
        }
        if (!plain && down != 0)
            for (int k = 0; k < PART; k++)
                total[k] = add_17(total[k], down);
        for (int k = 0; k < PART; k++)
            total[k] = multiply_17(multiply_17(total[k], by_x), by_y);
        for (int k = 0; k < PART; k += HALVES)
            singles_to_halves(total + k, found + k, f16c);
        if (some == PART)
            copy_part(found, to + done, sizeof found);
        else
            copy_some(found, to + done, 2 * some);
    }
}

INLINE void rows_of_body(const struct sim_half_pool *p, const float *const *lines, int count,
                         uint16_t *restrict to, int plain, const int f16c)
{
    if (plain)
        add_rows(p, lines, count, to, 1, f16c);
    else
        add_rows(p, lines, count, to, 0, f16c);
}

LEVELS_OF_HALVES(void, rows_of,
                 (const struct sim_half_pool *p, const float *const *lines, int count, uint16_t *to,
                  int plain),
                 p, lines, count, to, plain)

int sim_half_average_line(const struct sim_half_pool *p, int surface, int y, struct half_sums *sums)
{
    struct span rows = inside(y, p->stride_y, p->kernel_y, p->pad_top, p->height);
    const float *lines[17];
    int odd = 0;
    size_t line = line_size(p);
    for (int row = rows.first; row < rows.last; row++) {
        int slot = row % p->kernel_y, number = surface * p->height + row;
        float *to = sums->lines + line * (size_t)slot;
        if (sums->held[slot] != number) {
            const uint8_t *from =
                p->input.base + surface * p->input.surface + row * p->input.line;
            sums->odd[slot] = load((const uint16_t *)from, sums->row, p->width * p->input.atom,
                                   p->nan_to_zero);
            columns_of(p, sums->row, to, sums->plain && !(sums->odd[slot] & HAS_SPECIAL));
            sums->held[slot] = number;
        }
        odd |= sums->odd[slot];
        lines[row - rows.first] = to;
    }
    if (odd & HAS_NAN)
        return 0;
    rows_of(p, lines, rows.last - rows.first,
            (uint16_t *)(p->output.base + surface * p->output.surface + y * p->output.line),
            sums->plain && !(odd & HAS_SPECIAL));
    return 1;
}
