/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/kernels.hpp - what `cudla-sim nvcc` includes before a .cu file, as nvcc does: the
 * runtime, and what device code has without an include.
 */
#ifndef CUDLA_SIM_KERNELS_H
#define CUDLA_SIM_KERNELS_H

#ifndef __cplusplus
#error "kernels are C++"
#endif

/* The headers that nvcc's own include. */
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <new>
#include <utility>

#define CUDLA_SIM_ENGINE /* `half` and its like are there where a program includes cuda_fp16.h */
#include "../cuda_runtime.h"
#include "builtins.hpp"
#include "conversions.hpp"
#include "functions.hpp"
#include "integers.hpp"
#include "launch.hpp"
#include "ptx.hpp"
#include "textures.hpp"
#undef CUDLA_SIM_ENGINE

/* These two stay for the rewriter, which takes them out (cudla_sim/cuda_kernels/rewrite.py). */
#define __global__ __cudla_sim_global__
#define __shared__ __cudla_sim_shared__
#define __device__ __device__
#define __host__ __host__
#define __constant__ __constant__
#define __managed__ __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __inline_hint__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)

#endif
