/* The look-up tables of SDP and CDP on values that are integers. */
#ifndef CUDLA_SIM_INT_LUT_H
#define CUDLA_SIM_INT_LUT_H

#include "native/native.h"

/* What a thread has counted: values that hit LE, LO, that are below and above a table. The last two
 * are of the chosen table (SDP) or of both at once (CDP), the first two of CDP of only one. */
struct sim_lut_counts {
    int64_t le, lo, under, over, all;
};

/* Replaces each value by what the tables hold for it. */
void sim_lut_apply(const struct sim_lut *lut, double *values, int count,
                   struct sim_lut_counts *counts);

void sim_lut_begin(struct sim_lut *lut);
void sim_lut_add(struct sim_lut *lut, const struct sim_lut_counts *counts);

#endif
