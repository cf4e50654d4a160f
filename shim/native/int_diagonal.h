/* Convolutions whose kernel k multiplies channel k only, as NVDLA computes depthwise ones.
 *
 * Tiles and windows are those of int_dot.h, elements are int16_t; a run is one element for each
 * kernel, their number is even. Weights lie as [pair of runs][kernel][run of the pair].
 */
#ifndef CUDLA_SIM_INT_DIAGONAL_H
#define CUDLA_SIM_INT_DIAGONAL_H

#include "native/int_dot.h"

/* The fastest first; the last one runs anywhere. */
extern const struct sim_dot sim_diagonals[];
extern const int sim_diagonal_count;

#endif
