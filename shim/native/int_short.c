/* The arithmetic is that of int_pool.c: rounding away from zero is the same for a number and its size. */
#include "native/int_short.h"

#include "native/cpu.h"
#include "native/parts.h"
#include "native/pool_columns.h"

#pragma GCC optimize("O3")

int sim_int_is_short(const struct sim_pool *p, int64_t most)
{
    return p->input.item == 1 && most <= 1 << 15 && p->reciprocal_x >= 0 && p->reciprocal_y >= 0 &&
           p->reciprocal_x < 1 << 16 && p->reciprocal_y < 1 << 16;
}

SUMS_OF_COLUMNS(columns_of, int8_t, int16_t, int16_t)

INLINE void columns_body(const struct sim_pool *p, const int8_t *row, int16_t *to)
{
    if (p->input.atom == 32)
        columns_of(p, row, to, 32);
    else
        columns_of(p, row, to, p->input.atom);
}

LEVELS(void, columns, (const struct sim_pool *p, const int8_t *row, int16_t *to), (p, row, to))

void sim_int_short_columns(const struct sim_pool *p, const int8_t *row, int16_t *to)
{
    columns(p, row, to);
}

/* The upper half of a product, rounded. */
INLINE uint16_t times(uint16_t size, uint16_t factor)
{
    uint16_t high = (uint16_t)((uint32_t)size * factor >> 16);
    uint16_t low = (uint16_t)((uint32_t)size * factor);
    return (uint16_t)(high + (low >> 15));
}

/* The factors of each element: compilers find the instruction for the upper half of a product of two
 * arrays, not that of an array and a number. */
struct factors {
    uint16_t across[PART], down[PART];
    int16_t low, high;
};

INLINE int16_t averaged(const struct factors *by, int16_t sum, int k)
{
    int16_t sign = (int16_t)(sum >> 15);
    uint16_t size = times(times((uint16_t)((sum ^ sign) - sign), by->across[k]), by->down[k]);
    int16_t found = (int16_t)((int16_t)(size ^ (uint16_t)sign) - sign);
    found = found < by->low ? by->low : found;
    return found > by->high ? by->high : found;
}

/* Up to three lines, as most kernels have, need nothing in memory in between. */
INLINE void one_part(const struct factors *by, const int16_t *const *lines, int count,
                     const int16_t *missing, int done, int8_t *restrict to)
{
    const int16_t *restrict first = lines[0] + done, *restrict second = lines[1] + done;
    const int16_t *restrict third = lines[2] + done, *restrict none = missing + done;
    int16_t sums[PART];
    for (int k = 0; k < PART && count <= 3; k++)
        sums[k] = averaged(by, (int16_t)(none[k] + first[k] + second[k] + third[k]), k);
    if (count > 3) {
        for (int k = 0; k < PART; k++)
            sums[k] = (int16_t)(none[k] + first[k] + second[k] + third[k]);
        for (int i = 3; i < count; i++)
            for (int k = 0; k < PART; k++)
                sums[k] = (int16_t)(sums[k] + lines[i][done + k]);
        for (int k = 0; k < PART; k++)
            sums[k] = averaged(by, sums[k], k);
    }
    for (int k = 0; k < PART; k++)
        to[k] = (int8_t)sums[k];
}

INLINE void rows_body(const struct sim_pool *p, const int16_t *const *lines, int count,
                      const int16_t *missing, int8_t *to)
{
    const int all = p->out_width * p->input.atom;
    struct factors by = {.low = (int16_t)p->low, .high = (int16_t)p->high};
    for (int k = 0; k < PART; k++) {
        by.across[k] = (uint16_t)p->reciprocal_x;
        by.down[k] = (uint16_t)p->reciprocal_y;
    }
    int done = 0;
    for (; done + PART <= all; done += PART)
        one_part(&by, lines, count, missing, done, to + done);
    if (done < all) {
        int8_t found[PART];
        one_part(&by, lines, count, missing, done, found);
        copy_some(found, to + done, all - done);
    }
}

LEVELS(void, rows,
       (const struct sim_pool *p, const int16_t *const *lines, int count, const int16_t *missing,
        int8_t *to),
       (p, lines, count, missing, to))

void sim_int_short_rows(const struct sim_pool *p, const int16_t *const *lines, int count,
                        const int16_t *missing, int8_t *to)
{
    rows(p, lines, count, missing, to);
}
