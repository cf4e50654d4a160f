/* SDP with a look-up table whose operands are the same for all elements: a number in, a number out. */
#ifndef CUDLA_SIM_SDP_MAP_H
#define CUDLA_SIM_SDP_MAP_H

#include "native/int_sdp.h"

/* What the stages make of one element; the tile counts for it alone. */
typedef uint16_t sim_one_element(const void *run, uint16_t pattern, struct sim_tile *tile);

/* 1: done, counts included. 0: this layer is not of the kind, or it is its first time. */
int sim_sdp_map(const struct sim_cube *input, struct sim_sdp *sdp, sim_one_element *one, const void *run);

#endif
