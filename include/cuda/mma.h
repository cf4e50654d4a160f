/* SPDX-License-Identifier: Apache-2.0
 *
 * mma.h - matrices of a warp, in what `cudla-sim nvcc` compiles.
 */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#if defined(__cplusplus) && defined(__CUDACC__)
#include "kernels/matrices.hpp"
#endif

#endif /* __CUDA_MMA_H__ */
