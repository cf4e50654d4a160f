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
        int first = (p->pad_left + p->stride_x - 1) / p->stride_x;                                 \
        int room = p->width + p->pad_left - p->kernel_x;                                           \
        int last = room < 0 ? 0 : room / p->stride_x + 1;                                          \
        last = last < p->out_width ? last : p->out_width;                                          \
        if (p->kernel_x != 3 || first >= last) {                                                   \
            name##_some(p, row, to, 0, p->out_width, atom);                                        \
            return;                                                                                \
        }                                                                                          \
        name##_some(p, row, to, 0, first, atom);                                                   \
        const type *from = row + (first * p->stride_x - p->pad_left) * atom;                       \
        for (int x = first; x < last; x++, from += p->stride_x * atom)                             \
            for (int c = 0; c < atom; c++)                                                         \
                to[x * atom + c] = (sum)(from[c] + from[atom + c] + from[2 * atom + c]);           \
        name##_some(p, row, to, last, p->out_width, atom);                                         \
    }

#endif
