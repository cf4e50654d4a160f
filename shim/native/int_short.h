/* Averages of bytes (PDP) whose sums fit 16 bits. */
#ifndef CUDLA_SIM_INT_SHORT_H
#define CUDLA_SIM_INT_SHORT_H

#include <stdint.h>

#include "native/native.h"

/* Whether sums of up to `most`, and reciprocals, are as small as this. */
int sim_int_is_short(const struct sim_pool *p, int64_t most);

/* For each window, the sum of its columns in a line of the input. */
void sim_int_short_columns(const struct sim_pool *p, const int8_t *row, int16_t *to);

/*
 * A line of averages of `count` such lines and of what pads add, `missing`. All of them are as long as
 * whole parts (parts.h), and there are three of them at least.
 */
void sim_int_short_rows(const struct sim_pool *p, const int16_t *const *lines, int count,
                        const int16_t *missing, int8_t *to);

#endif
