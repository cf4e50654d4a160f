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

static void forget_lines(struct half_sums *sums, const struct sim_half_pool *p)
{
    for (int i = 0; i < p->kernel_y; i++)
        sums->held[i] = -1;
}

int sim_half_sums_begin(struct half_sums *sums, const struct sim_half_pool *p)
{
    size_t row = (size_t)p->input.atom * (size_t)p->width;
    size_t count = line_size(p) * (size_t)p->kernel_y;
    sums->row = malloc(sizeof(float) * (row + PART));
    sums->lines = malloc(sizeof(float) * count);
    if (sums->row == NULL || sums->lines == NULL)
        return -1;
    for (size_t i = 0; i < count; i++)
        sums->lines[i] = 1; /* what lies behind a line is no sum that is 0 */
    forget_lines(sums, p);
    sums->signed_zeros = 0;
    sums->plain = p->reciprocal_x > 0 && p->reciprocal_y > 0 && p->reciprocal_x <= 1 &&
                  p->reciprocal_y <= 1 && p->reciprocal_x * p->reciprocal_y >= 0x1p-5;
    for (int i = 0; i < 17; i++)
        sums->plain &= p->across[i] == 0 && p->down[i] == 0;
    return 0;
}

void sim_half_sums_end(struct half_sums *sums)
{
    free(sums->row);
    free(sums->lines);
}

/* What a line has: NaNs, any that are not finite, any below 0. */
enum { HAS_NAN = 1, HAS_SPECIAL = 2, HAS_SIGN = 4 };

/* With numbers that are not finite: NaNs become 0, infinities the largest number; whether there is a NaN. */
INLINE int load_special(const uint16_t *restrict from, float *restrict to, int count, const int f16c)
{
    uint16_t odd = 0, numbers[PART] = {0};
    for (int done = 0; done < count; done += PART) {
        copy_some(from + done, numbers, 2 * (count - done < PART ? count - done : PART));
        for (int i = 0; i < PART; i++) {
            uint16_t nan = (uint16_t)(0 - ((numbers[i] & 0x7fff) > 0x7c00));
            odd |= nan;
            numbers[i] &= (uint16_t)~nan;
        }
        for (int i = 0; i < PART; i += HALVES)
            halves_to_singles(numbers + i, to + done + i, LARGEST17, f16c);
    }
    return odd != 0;
}

INLINE int load_body(const uint16_t *restrict from, float *restrict to, int count, int nan_to_zero,
                     const int f16c)
{
    uint16_t special = 0, signs = 0;
    for (int i = 0; i < count; i++) {
        special |= (uint16_t)(0 - ((from[i] & 0x7c00) == 0x7c00));
        signs |= from[i];
    }
    int found = signs & 0x8000 ? HAS_SIGN : 0, done = 0;
    if (special)
        return found | HAS_SPECIAL |
               (load_special(from, to, count, f16c) && !nan_to_zero ? HAS_NAN : 0);
    for (; done + HALVES <= count; done += HALVES)
        halves_to_singles(from + done, to + done, INFINITY, f16c);
    for (; done < count; done++)
        to[done] = half_single(from[done], INFINITY);
    return found;
}

LEVELS_OF_HALVES(int, load, (const uint16_t *from, float *to, int count, int nan_to_zero), from, to,
                 count, nan_to_zero)

/*
 * Sums of halves alone are 0 or at least 2^-24, and of at most 16 x 16 they are far from FP17's largest
 * number: then they need rounding only, and so do averages that are far from the least one (PLAIN). A sum
 * that is 0 has the sign of the first number; where a line's results are not 0, or no number has a sign,
 * nobody asks for it (UNSIGNED).
 */
enum { ANY, PLAIN, UNSIGNED };

INLINE float only_rounded(float value)
{
    uint32_t bits = single_bits(value);
    return single_of((bits + (bits >> 13 & 1) + 0xfff) & 0xffffe000);
}

INLINE float add_of(float first, float second, const int kind)
{
    if (kind == ANY)
        return add_17(first, second);
    float total = first + second;
    if (kind == UNSIGNED)
        return only_rounded(total);
    uint32_t zero = single_bits(first) & 0x80000000 & FLAG32(total == 0);
    return single_of(single_bits(only_rounded(total)) | zero);
}

INLINE float times_of(float value, float factor, const int kind)
{
    return kind == ANY ? multiply_17(value, factor) : only_rounded(value * factor);
}

INLINE void some_columns(const struct sim_half_pool *p, const float *row, float *to, int x, int end,
                         const int atom, const int kind)
{
    for (to += x * atom; x < end; x++, to += atom) {
        struct span columns = inside(x, p->stride_x, p->kernel_x, p->pad_left, p->width);
        const float across = (float)p->across[p->kernel_x - (columns.last - columns.first)];
        const float *from = row + columns.first * atom;
        float line[MAX_ATOM];
        for (int c = 0; c < atom; c++)
            line[c] = from[c];
        for (int i = columns.first + 1; i < columns.last; i++) {
            from += atom;
            for (int c = 0; c < atom; c++)
                line[c] = add_of(line[c], from[c], kind);
        }
        if (across != 0)
            for (int c = 0; c < atom; c++)
                line[c] = add_17(line[c], across);
        for (int c = 0; c < atom; c++)
            to[c] = line[c];
    }
}

/* Of windows of three columns, as most kernels have, those inside stay in registers. */
INLINE void add_columns(const struct sim_half_pool *p, const float *row, float *restrict to,
                        const int atom, const int kind)
{
    struct span whole = {0, 0};
    if (p->kernel_x == 3 && p->across[0] == 0)
        whole = whole_windows(p->out_width, p->stride_x, 3, p->pad_left, p->width);
    some_columns(p, row, to, 0, whole.first, atom, kind);
    const float *from = row + (whole.first * p->stride_x - p->pad_left) * atom;
    for (int x = whole.first; x < whole.last; x++, from += p->stride_x * atom)
        for (int c = 0; c < atom; c++)
            to[x * atom + c] =
                add_of(add_of(from[c], from[atom + c], kind), from[2 * atom + c], kind);
    some_columns(p, row, to, whole.last, p->out_width, atom, kind);
}

INLINE void columns_of_body(const struct sim_half_pool *p, const float *row, float *to, int kind)
{
    if (p->input.atom == USUAL_ATOM && kind == UNSIGNED)
        add_columns(p, row, to, USUAL_ATOM, UNSIGNED);
    else if (p->input.atom == USUAL_ATOM && kind == PLAIN)
        add_columns(p, row, to, USUAL_ATOM, PLAIN);
    else
        add_columns(p, row, to, p->input.atom, ANY);
}

LEVELS(void, columns_of, (const struct sim_half_pool *p, const float *row, float *to, int kind),
       (p, row, to, kind))

/* What is known of sums that are 0: that there are some; that their last line is 0, too, whose sign may be
 * another one than that of its numbers. */
enum { SOME_ZERO = 1, DEEP_ZERO = 2 };

/* Averages of three lines, as most windows have: `last` is of the sum that ends them. */
INLINE int three_lines(const float *const *lines, int done, float by_x, float by_y,
                       float *restrict to, const int kind, const int last)
{
    const float *restrict first = lines[0] + done, *restrict second = lines[1] + done;
    const float *restrict third = lines[2] + done;
    uint32_t some = 0, deep = 0;
    for (int k = 0; k < PART; k++) {
        float sum = add_of(third[k], add_of(second[k], first[k], kind), last);
        some |= FLAG32(sum == 0);
        if (last != UNSIGNED)
            deep |= FLAG32(sum == 0) & FLAG32(third[k] == 0);
        to[k] = times_of(times_of(sum, by_x, kind), by_y, kind);
    }
    return (some ? SOME_ZERO : 0) | (deep ? DEEP_ZERO : 0);
}

INLINE int any_lines(const struct sim_half_pool *p, const float *const *lines, int count, int done,
                     float *restrict to, const int kind)
{
    const float down = (float)p->down[p->kernel_y - count], *last = lines[count - 1] + done;
    const float by_x = (float)p->reciprocal_x, by_y = (float)p->reciprocal_y;
    const int with_sign = kind == UNSIGNED ? PLAIN : kind;
    uint32_t deep = 0;
    copy_part(lines[0] + done, to, sizeof *to * PART);
    for (int i = 1; i < count - 1; i++) {
        const float *line = lines[i] + done;
#pragma GCC ivdep
        for (int k = 0; k < PART; k++)
            to[k] = add_of(line[k], to[k], kind);
    }
    if (count > 1)
        for (int k = 0; k < PART; k++)
            to[k] = add_of(last[k], to[k], with_sign);
    for (int k = 0; k < PART; k++)
        deep |= FLAG32(to[k] == 0) & FLAG32(last[k] == 0);
    if (kind == ANY && down != 0)
        for (int k = 0; k < PART; k++)
            to[k] = add_17(to[k], down);
    for (int k = 0; k < PART; k++)
        to[k] = times_of(times_of(to[k], by_x, kind), by_y, kind);
    return deep ? DEEP_ZERO : 0;
}

/* A new line is the first operand; DEEP_ZERO, if there is any. */
INLINE int add_rows(const struct sim_half_pool *p, const float *const *lines, int count,
                    uint16_t *restrict to, const int kind, const int f16c)
{
    const int all = p->out_width * p->input.atom;
    const float by_x = (float)p->reciprocal_x, by_y = (float)p->reciprocal_y;
    int zeros = 0;
    for (int done = 0; done < all; done += PART) {
        int some = all - done < PART ? all - done : PART;
        float average[PART];
        uint16_t rest[PART], *into = some == PART ? to + done : rest;
        if (kind == ANY || count != 3)
            zeros |= any_lines(p, lines, count, done, average, kind);
        else if (three_lines(lines, done, by_x, by_y, average, kind, kind))
            zeros |= three_lines(lines, done, by_x, by_y, average, kind, PLAIN);
        for (int k = 0; k < PART; k += HALVES)
            singles_to_halves(average + k, into + k, f16c);
        if (some < PART)
            copy_some(rest, to + done, 2 * some);
    }
    return zeros & DEEP_ZERO;
}

INLINE int rows_of_body(const struct sim_half_pool *p, const float *const *lines, int count,
                        uint16_t *restrict to, int kind, const int f16c)
{
    if (kind == UNSIGNED)
        return add_rows(p, lines, count, to, UNSIGNED, f16c);
    if (kind == PLAIN)
        return add_rows(p, lines, count, to, PLAIN, f16c);
    return add_rows(p, lines, count, to, ANY, f16c);
}

LEVELS_OF_HALVES(int, rows_of,
                 (const struct sim_half_pool *p, const float *const *lines, int count, uint16_t *to,
                  int kind),
                 p, lines, count, to, kind)

static int kind_of(const struct half_sums *sums, int odd)
{
    if (!sums->plain || odd & HAS_SPECIAL)
        return ANY;
    return sums->signed_zeros && odd & HAS_SIGN ? PLAIN : UNSIGNED;
}

int sim_half_is_finite(const struct half_sums *sums, const struct sim_half_pool *p, int surface, int row)
{
    int slot = row % p->kernel_y;
    return sums->held[slot] == surface * p->height + row && !(sums->odd[slot] & HAS_SPECIAL);
}

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
            columns_of(p, sums->row, to, kind_of(sums, sums->odd[slot]));
            sums->held[slot] = number;
        }
        odd |= sums->odd[slot];
        lines[row - rows.first] = to;
    }
    if (odd & HAS_NAN)
        return 0;
    uint16_t *target = (uint16_t *)(p->output.base + surface * p->output.surface + y * p->output.line);
    int zeros = rows_of(p, lines, rows.last - rows.first, target, kind_of(sums, odd));
    if (zeros && sums->plain && !sums->signed_zeros && odd & HAS_SIGN) { /* there may be more of them */
        sums->signed_zeros = 1;
        forget_lines(sums, p);
        return sim_half_average_line(p, surface, y, sums);
    }
    return 1;
}
