/* Averages of 16-bit numbers (PDP) of up to three lines, whose elements are handled two by two. */
#ifndef CUDLA_SIM_INT_TWOS_H
#define CUDLA_SIM_INT_TWOS_H

#include <stdint.h>

#include "native/native.h"

/* Whether sums, which pads change by `pad` at most, and their products with reciprocals allow it. */
int sim_int_is_twos(const struct sim_pool *p, int64_t pad);

/* Sums of columns: those of elements with even numbers, and `size` behind them those of the others. */
void sim_int_twos_columns(const struct sim_pool *p, const void *row, int32_t *to, int size);

/* A line of the output from three lines of them; `missing`: what pads add, for elements with even numbers. */
void sim_int_twos_rows(const struct sim_pool *p, const int32_t *const *lines, const int32_t *missing,
                       void *to, int size);

#endif
