/* Averages of fp16 (PDP), whose lines are added once for all windows that have them. */
#ifndef CUDLA_SIM_HALF_AVERAGE_H
#define CUDLA_SIM_HALF_AVERAGE_H

#include "native/native.h"

/* Sums of lines of the input, a slot for each line of a window. */
struct half_sums {
    float *row, *lines; /* a line of the input; [slot][x][channel] */
    int held[17];       /* the line in a slot, -1: none */
    int odd[17];        /* whether it has NaNs and infinities */
    int plain;          /* pads add nothing, and averages are far from the least number */
    int signed_zeros;   /* the sign of sums that are 0 matters */
};

int sim_half_sums_begin(struct half_sums *sums, const struct sim_half_pool *p); /* -1: no memory */
void sim_half_sums_end(struct half_sums *sums);

/* Line y of the output. 0: there is a NaN in its windows, and it is not computed. */
int sim_half_average_line(const struct sim_half_pool *p, int surface, int y, struct half_sums *sums);

/* Whether the line of the input is one of those that were added last and has neither NaN nor infinity. */
int sim_half_is_finite(const struct half_sums *sums, const struct sim_half_pool *p, int surface, int row);

#endif
