/* SDP on tiles of values: what a convolution or a cube in memory delivers, a few pixels at a time. */
#ifndef CUDLA_SIM_INT_SDP_H
#define CUDLA_SIM_INT_SDP_H

#include "native/int_lut.h"
#include "native/native.h"

enum { SIM_TILE_PIXELS = 16, SIM_TILE_CHANNELS = 64 };

struct sim_sdp_run;
struct sim_tile;
typedef void sim_usual(const struct sim_sdp_run *run, struct sim_tile *tile);

/* A layer in progress: operands as numbers for each channel. */
struct sim_sdp_run {
    struct sim_sdp *sdp;
    double *operands[3][2]; /* [stage][alu, mul], per channel; NULL: one for each element */
    sim_usual *usual;       /* does everything, if the stages are the usual ones */
};

/* -1: no memory. */
int sim_sdp_begin(struct sim_sdp_run *run, struct sim_sdp *sdp);
void sim_sdp_end(struct sim_sdp_run *run);

/* Pixels that lie one behind the other in lines, from number `pixel` on, and `channels` from
 * `channel` on. `values` is [pixel][channels]. */
struct sim_tile {
    int pixel, pixels, channel, channels;
    int64_t clipped, saturated, nans;
    struct sim_lut_counts looked_up;
    double values[SIM_TILE_PIXELS * SIM_TILE_CHANNELS];
    double operand[SIM_TILE_PIXELS * SIM_TILE_CHANNELS];
};

/* A thread's tiles: nothing is counted yet; adds what was counted to the layer. */
static inline void sim_tile_begin(struct sim_tile *tile)
{
    tile->clipped = tile->saturated = tile->nans = 0;
    tile->looked_up = (struct sim_lut_counts){0, 0, 0, 0, 0};
}
void sim_tile_end(const struct sim_sdp_run *run, const struct sim_tile *tile);

void sim_sdp_tile(const struct sim_sdp_run *run, struct sim_tile *tile);
void sim_tile_load(const struct sim_cube *cube, int width, const struct sim_tile *tile,
                   double *values);

#endif
