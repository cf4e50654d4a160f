/* SDP in fp16, line by line from cube to cube, where float holds every number on the way. */
#ifndef CUDLA_SIM_HALF_LINES_H
#define CUDLA_SIM_HALF_LINES_H

#include "native/native.h"

/* `operands`: [stage][alu, mul] of each channel, NULL: one for each element. 1: done; 0: this layer needs
 * more than that. */
int sim_half_lines(const struct sim_cube *input, struct sim_sdp *sdp, double *const operands[3][2]);

#endif
