/* SPDX-License-Identifier: Apache-2.0
 *
 * cooperative_groups.h - for code that `cudla-sim nvcc` compiles; other compilers see nothing.
 */
#ifndef CUDLA_SIM_COOPERATIVE_GROUPS_H
#define CUDLA_SIM_COOPERATIVE_GROUPS_H

#if defined(__CUDACC__)
#include "kernels/groups.hpp"

/* A program with a libcu++ of its own has cuda::atomic by this header. */
#if __has_include(<cuda/std/detail/__config>)
#include <cuda/atomic>
#endif
#endif

#endif
