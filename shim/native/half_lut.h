/* The look-up tables of SDP and CDP on FP32 numbers. `origin` and `slope` of the tables are numbers;
 * the slope has no shift. */
#ifndef CUDLA_SIM_HALF_LUT_H
#define CUDLA_SIM_HALF_LUT_H

#include "native/int_lut.h"

/* Before a layer, instead of sim_lut_begin. */
void sim_half_lut_begin(struct sim_lut *lut);

/* Replaces each value by the FP17 number that the tables hold for it. */
void sim_half_lut_apply(const struct sim_lut *lut, double *values, int count,
                        struct sim_lut_counts *counts);

#endif
