/* Averages of integers (PDP), whose lines are added once for all windows that have them. */
#ifndef CUDLA_SIM_INT_AVERAGE_H
#define CUDLA_SIM_INT_AVERAGE_H

#include <stdint.h>

#include "native/native.h"

/* The largest size of what a pad adds. */
int64_t sim_int_largest_pad(const struct sim_pool *p);

/* Sums of lines of the input, a slot for each line of a window: [slot][x][channel], of 16 bits where
 * those are enough. */
struct int_sums {
    int32_t *lines;
    int held[17]; /* the line in a slot, -1: none */
    int32_t *zeros;   /* a line of them */
    int32_t *missing; /* [x][channel]: what pads add, with so many lines of the input: */
    int missing_of;
    int padded; /* whether that is anything */
    int narrow; /* how averages are computed */
};

int sim_int_sums_begin(struct int_sums *sums, const struct sim_pool *p); /* -1: no memory */
void sim_int_sums_end(struct int_sums *sums);
void sim_int_average_line(const struct sim_pool *p, int surface, int y, struct int_sums *sums);

#endif
