/* Dot products of 16-bit numbers with 64-bit sums, on the instructions of this machine.
 *
 * Tiles, windows and runs are those of int_dot.h, elements are int16_t. Each weight w is held in two
 * parts, w = 256 * high + low with low from -128 to 127, so that products with 16-bit data have 22
 * bits and many of them fit a 32-bit sum. Weights of a block of kernels lie as
 * [run][group][low, high][kernel][element of the group], those of whole ones as int_whole.h has them.
 */
#ifndef CUDLA_SIM_INT_WIDE_H
#define CUDLA_SIM_INT_WIDE_H

#include "native/int_dot.h"

enum { SIM_WIDE_SUMS = 6 * 32 }; /* of a tile at most */

/* `start` of a tile is not used: sums begin at 0 and are added to `wide`, [pixel][kernel]. The
 * fastest first; the last one runs anywhere. */
extern const struct sim_dot sim_wides[];
extern const int sim_wide_count;

#endif
