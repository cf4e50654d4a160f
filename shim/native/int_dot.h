/* Dot products of small integers on the instructions of this machine.
 *
 * A tile is up to `pixels` windows times `kernels` kernels. A window is a list of runs: `groups`
 * groups of `group` neighbouring elements from pixel + run[i] on. Weights lie as
 * [run][group][kernel][element in the group]. Sums wrap at 32 bits.
 */
#ifndef CUDLA_SIM_INT_DOT_H
#define CUDLA_SIM_INT_DOT_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_DOT_PIXELS = 12, SIM_DOT_KERNELS = 64 };

struct sim_dot_tile {
    const uint8_t *pixels[SIM_DOT_PIXELS];
    const int64_t *runs; /* bytes */
    size_t run_count, groups;
    const void *weights;
    const int32_t *start; /* [kernel]: where sums begin */
    int32_t *sums;        /* [pixel][kernel] */
    int64_t *wide;        /* those of int_wide.h */
    const uint8_t *apart; /* of weights that are whole */
};

struct sim_dot {
    const char *name;
    int kernels; /* of a tile at most */
    int pixels;  /* of a tile at most */
    int group;   /* elements that are multiplied together */
    int item;    /* bytes of an element */
    int offset;  /* added to data, which is unsigned then: 128 or 0 */
    int (*supported)(void);
    /* `kernels`: those of this tile, a multiple of 16 */
    void (*run)(const struct sim_dot_tile *tile, int pixels, int kernels);
    int block; /* kernels whose weights lie together; 0: as many as a tile has */
    int whole; /* of int_wide.h: weights are not in parts */
};

/* The fastest first; the last one runs anywhere. */
extern const struct sim_dot sim_dots[];
extern const int sim_dot_count;

#endif
