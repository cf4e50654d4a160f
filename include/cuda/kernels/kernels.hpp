/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/kernels.hpp - what `cudla-sim nvcc` includes before a .cu file, as nvcc does: the runtime,
 * and what device code has.
 */
#ifndef CUDLA_SIM_KERNELS_H
#define CUDLA_SIM_KERNELS_H

#ifndef __cplusplus
#error "kernels are C++"
#endif

#if defined(CUDLA_SIM_CHECKS)
/* Objects that are compiled for checks have an engine of their own. */
namespace cudla_sim_checked {}
namespace cudla_sim = cudla_sim_checked; /* as the rewriter spells it */
#define cudla_sim cudla_sim_checked
/* Their heap is known; declared before anyone else does. */
extern "C" void *malloc(decltype(sizeof 0)) noexcept __asm__("cudla_sim_malloc");
extern "C" void free(void *) noexcept __asm__("cudla_sim_free");
#endif

/* What nvcc's own headers bring along. */
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <new>
#include <utility>

#define CUDLA_SIM_ENGINE
#include "../cuda_runtime.h"
#include "builtins.hpp"
#include "conversions.hpp"
#include "functions.hpp"
#include "integers.hpp"
#include "lanes.hpp"
#include "launch.hpp"
#include "nv_atomics.hpp"
#include "dpx.hpp"
#include "simd.hpp"
#include "spaces.hpp"
#include "ptx.hpp"
#include "ptx_lanes.hpp"
#include "ptx_matrices.hpp"
#include "ptx_memory.hpp"
#include "textures.hpp"
#include "thrust_host.hpp"
#if !defined(CUDLA_SIM_APART)
#include "whole.hpp"
#endif
#include "checks.hpp"
#undef CUDLA_SIM_ENGINE

/* In a kernel, memory of the device's own heap: it lasts until a kernel frees it, and is nothing to the host
 * (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations"). */
namespace cudla_sim {
template <class T> inline cudaError_t allocated(T **target, size_t size) {
    void **place = (void **)(void *)target;
    if (!block)
        return ::cudaMalloc(place, size);
    *place = ::malloc(size ? size : 1);
    return *place ? cudaSuccess : cudaErrorMemoryAllocation;
}
/* A kernel's cudaFree is refused where the host allocated. */
inline bool is_of_the_host(void *memory) {
    cudaPointerAttributes of;
    return cudaPointerGetAttributes(&of, memory) == cudaSuccess && of.type != cudaMemoryTypeUnregistered;
}
inline cudaError_t freed(void *memory) {
    if (!block)
        return ::cudaFree(memory);
    if (memory && is_of_the_host(memory))
        return cudaErrorInvalidValue;
    ::free(memory);
    return cudaSuccess;
}
} // namespace cudla_sim
#define cudaMalloc(...) cudla_sim::allocated(__VA_ARGS__)
#define cudaFree(...) cudla_sim::freed(__VA_ARGS__)

/* Kept for the rewriter, which takes them out (cudla_sim/cuda_kernels/rewrite.py). */
#define __global__ __cudla_sim_global__
#define __shared__ __cudla_sim_shared__
#define __device__ /* these four until kernels/reserved.hpp */
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __inline_hint__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)

namespace cudla_sim {

/* `extern __shared__ T name[]` in a function is a pointer; outside of one it is this. */
template <class T> struct Dynamic {
    static T *start() { return reinterpret_cast<T *>(block->dynamic_start()); }
    operator T *() const { return start(); }
    T &operator[](size_t index) const { return start()[index]; }
};

} // namespace cudla_sim

#endif
