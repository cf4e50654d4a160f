/* Sums of columns: for each window, those of one line of the input. */
#ifndef CUDLA_SIM_POOL_COLUMNS_H
#define CUDLA_SIM_POOL_COLUMNS_H

#include <stdint.h>

#include "native/cpu.h"
#include "native/native.h"
#include "native/pool_span.h"

/*
 * The function `name`: elements of `type` are added as `sum` and kept as `kept`. Of windows of three
 * columns, as most kernels have, those that lie inside, from `first` to before `last`, stay in registers.
 */
#define SUMS_OF_COLUMNS(name, type, sum, kept)                                                     \
    INLINE void name##_some(const struct sim_pool *p, const type *row, kept *to, int x, int end,   \
                            const int atom)                                                        \
    {                                                                                              \
        for (to += x * atom; x < end; x++, to += atom) {                                           \
            struct span columns = inside(x, p->stride_x, p->kernel_x, p->pad_left, p->width);      \
            sum line[MAX_ATOM];                                                                    \
            for (int c = 0; c < atom; c++)                                                         \
                line[c] = 0;                                                                       \
            for (int i = columns.first; i < columns.last; i++)                                     \
                for (int c = 0; c < atom; c++)                                                     \
                    line[c] = (sum)(line[c] + row[i * atom + c]);                                  \
            for (int c = 0; c < atom; c++)                                                         \
                to[c] = line[c];                                                                   \
        }                                                                                          \
    }                                                                                              \
    INLINE void name(const struct sim_pool *p, const type *row, kept *restrict to, const int atom) \
    {                                                                                              \
        struct span whole = {0, 0};                                                                \
        if (p->kernel_x == 3)                                                                      \
            whole = whole_windows(p->out_width, p->stride_x, 3, p->pad_left, p->width);            \
        name##_some(p, row, to, 0, whole.first, atom);                                             \
        const type *from = row + (whole.first * p->stride_x - p->pad_left) * atom;                 \
        for (int x = whole.first; x < whole.last; x++, from += p->stride_x * atom)                 \
            for (int c = 0; c < atom; c++)                                                         \
                to[x * atom + c] = (sum)(from[c] + from[atom + c] + from[2 * atom + c]);           \
        name##_some(p, row, to, whole.last, p->out_width, atom);                                   \
    }

#endif
