/*
 * The arithmetic is that of int_pool.c. Two elements are a number of 32 bits, which shifts take apart and put
 * together: instructions that widen and narrow elements move them across registers, and cost more.
 */
#include "native/int_twos.h"

#include "native/cpu.h"
#include "native/pool_span.h"

#pragma GCC optimize("O3")

typedef uint32_t Two __attribute__((may_alias, aligned(2)));

int sim_int_is_twos(const struct sim_pool *p, int64_t pad)
{
    const int64_t across = p->reciprocal_x, down = p->reciprocal_y, half = 1 << 15, limit = (int64_t)1 << 31;
    const int64_t most = 32768 * (int64_t)p->kernel_x * p->kernel_y + pad;
    const int64_t largest = most - (int64_t)p->kernel_x * p->kernel_y;
    if (p->input.item != 2 || p->input.atom % 2 || p->kernel_y > 3 || most >= 1 << 22 || across < 0 ||
        down < 0 || across > 1 << 16 || down > 1 << 16)
        return 0;
    return ((most * across + half) >> 16) * down < limit + half &&
           ((largest * across + half) >> 16) * down + half < limit;
}

INLINE int32_t even(uint32_t two)
{
    return (int32_t)(two << 16) >> 16;
}

INLINE int32_t odd(uint32_t two)
{
    return (int32_t)two >> 16;
}

INLINE void some_columns(const struct sim_pool *p, const Two *row, int32_t *evens, int32_t *odds, int x,
                         int end, const int half)
{
    for (; x < end; x++) {
        struct span columns = inside(x, p->stride_x, p->kernel_x, p->pad_left, p->width);
        for (int c = 0; c < half; c++) {
            int32_t first = 0, second = 0;
            for (int i = columns.first; i < columns.last; i++) {
                first += even(row[i * half + c]);
                second += odd(row[i * half + c]);
            }
            evens[x * half + c] = first;
            odds[x * half + c] = second;
        }
    }
}

/* Of windows of three columns, as most kernels have, those inside have a loop of their own. */
INLINE void all_columns(const struct sim_pool *p, const Two *row, int32_t *restrict evens,
                        int32_t *restrict odds, const int half)
{
    struct span whole = {0, 0};
    if (p->kernel_x == 3)
        whole = whole_windows(p->out_width, p->stride_x, 3, p->pad_left, p->width);
    some_columns(p, row, evens, odds, 0, whole.first, half);
    const Two *from = row + (whole.first * p->stride_x - p->pad_left) * half;
    for (int x = whole.first; x < whole.last; x++, from += p->stride_x * half)
        for (int c = 0; c < half; c++) {
            uint32_t first = from[c], second = from[half + c], third = from[2 * half + c];
            evens[x * half + c] = even(first) + even(second) + even(third);
            odds[x * half + c] = odd(first) + odd(second) + odd(third);
        }
    some_columns(p, row, evens, odds, whole.last, p->out_width, half);
}

INLINE void columns_body(const struct sim_pool *p, const Two *row, int32_t *to, int size)
{
    if (p->input.atom == 16)
        all_columns(p, row, to, to + size, 8);
    else
        all_columns(p, row, to, to + size, p->input.atom / 2);
}

LEVELS(void, columns, (const struct sim_pool *p, const Two *row, int32_t *to, int size),
       (p, row, to, size))

void sim_int_twos_columns(const struct sim_pool *p, const void *row, int32_t *to, int size)
{
    columns(p, row, to, size);
}

/* Half away from zero: a product below 0 is rounded up to less than the next number. The upper bits of a sum
 * and the lower ones are multiplied apart. */
INLINE int32_t averaged(int32_t total, int32_t across, int32_t down, int32_t low, int32_t high)
{
    int32_t round = (1 << 15) + (total >> 31);
    int32_t upper = (total >> 8) * across, lower = ((total & 255) * across + round) >> 8;
    total = (((upper + lower) >> 8) * down + round) >> 16;
    total = total < low ? low : total;
    return total > high ? high : total;
}

INLINE void rows_body(const struct sim_pool *p, const int32_t *const *lines, const int32_t *missing,
                      Two *restrict to, int size)
{
    const int all = p->out_width * p->input.atom / 2;
    const int32_t *restrict first = lines[0], *restrict second = lines[1], *restrict third = lines[2];
    const int32_t *restrict none = missing;
    const int32_t across = p->reciprocal_x, down = p->reciprocal_y, low = p->low, high = p->high;
    for (int k = 0; k < all; k++) {
        int32_t one = none[k] + first[k] + second[k] + third[k];
        int32_t other = none[k] + first[size + k] + second[size + k] + third[size + k];
        to[k] = ((uint32_t)averaged(one, across, down, low, high) & 0xffff) |
                (uint32_t)averaged(other, across, down, low, high) << 16;
    }
}

LEVELS(void, rows,
       (const struct sim_pool *p, const int32_t *const *lines, const int32_t *missing, Two *to, int size),
       (p, lines, missing, to, size))

void sim_int_twos_rows(const struct sim_pool *p, const int32_t *const *lines, const int32_t *missing,
                       void *to, int size)
{
    rows(p, lines, missing, to, size);
}
