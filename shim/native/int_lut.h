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

/*
 * Tables of CDP whose results are found in 32 bits: numbers that LO has are looked up in it, and those of
 * LE are counted only. Numbers from `from` to below `to` are in a table.
 */
struct sim_lut_brief {
    const struct sim_lut *lut;
    double start, scale, from[2], to[2];
    int32_t shift; /* from a distance in LO to 65536ths of entries: right, below 0 left */
    int32_t narrow, start_32, from_32[2], to_32[2]; /* the same for numbers of 32 bits, if `narrow` */
    int32_t entries[SIM_LUT_ENTRIES], steps[SIM_LUT_ENTRIES];
};

/* 0: the tables are not of that kind. */
int sim_lut_brief(const struct sim_lut *lut, struct sim_lut_brief *brief);

/* What the tables hold for integers, whose size is below 2^28 (`_32`), or below 2^40. */
void sim_lut_look_up(const struct sim_lut_brief *brief, const double *values, int32_t *results, int count,
                     struct sim_lut_counts *counts);
void sim_lut_look_up_32(const struct sim_lut_brief *brief, const int32_t *values, int32_t *results,
                        int count, struct sim_lut_counts *counts);

void sim_lut_begin(struct sim_lut *lut);
void sim_lut_add(struct sim_lut *lut, const struct sim_lut_counts *counts);

#endif
