/* SDP of bytes straight from sums, in single precision: where results are rounded only once. */
#ifndef CUDLA_SIM_INT_BRIEF_H
#define CUDLA_SIM_INT_BRIEF_H

#include "native/int_sdp.h"

struct sim_brief;

enum { SIM_BRIEF_CHANNELS = 64 };

/* Results of `count` sums of each pixel, [pixel][kernels], to [pixel][SIM_BRIEF_CHANNELS]; how many
 * were cut. */
typedef int32_t sim_brief_rows(const struct sim_brief *brief, const int32_t *sums, int kernels,
                               int pixels, int channel, int count, int8_t *to);

struct sim_brief {
    int32_t *added; /* [channel] */
    float *factors; /* [channel] */
    int32_t least_sum, offset, least, after, low, high; /* offset, after: before, behind factors */
    sim_brief_rows *rows;
};

/* For sums that are at most `bound` from 0, with the instructions of a sim_dot. 1: SDP can be done
 * so; 0: it cannot; -1: no memory. */
int sim_brief_begin(struct sim_brief *brief, const struct sim_sdp_run *run, int64_t bound,
                    const char *instructions);
void sim_brief_end(struct sim_brief *brief);

/* Sums [pixel][kernels] of a tile to the output; channels behind `kernels` have the sum 0. */
void sim_brief_tile(const struct sim_brief *brief, const struct sim_sdp_run *run,
                    struct sim_tile *tile, const int32_t *sums, int kernels);

#endif
