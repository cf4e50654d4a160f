/* SDP of integers whose numbers fit 32 bits on the way, line by line from cube to cube. */
#ifndef CUDLA_SIM_INT_LINES_H
#define CUDLA_SIM_INT_LINES_H

#include "native/int_sdp.h"

/* 1: done; 0: this layer needs more than that. */
int sim_int_lines(const struct sim_cube *input, const struct sim_sdp_run *run);

#endif
