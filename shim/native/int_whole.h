/* Dot products of 16-bit numbers with 64-bit sums, of weights that are held whole (AVX2).
 *
 * Weights of a block of eight kernels lie as [run][group of four][pair][kernel][element of the pair].
 * Behind those of all blocks there is a byte for each [block][run][group], and seven more: 0, if no sum of the
 * group's four products exceeds 32 bits, whatever the data are; 1, if none of a pair's two does; else 2. A
 * larger number than needed is as right. `apart` of a tile is where they begin for its first block.
 */
#ifndef CUDLA_SIM_INT_WHOLE_H
#define CUDLA_SIM_INT_WHOLE_H

#include "native/int_dot.h"

#if defined(__x86_64__)
void sim_whole_256(const struct sim_dot_tile *tile, int pixels, int kernels);
#endif

#endif
