/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/indices.hpp - threadIdx, blockIdx, blockDim and gridDim of the thread that runs.
 *
 * threadIdx.x changes with every thread: a store of it costs as much as the rest of a small kernel. So it is in a
 * register that nothing else uses in code compiled with these headers and that functions of others preserve; a
 * handler of a signal reads it there (faults.hpp), and a switch of stacks keeps it. The rest is memory of a type of
 * its own, so that no store of a kernel can be one to it.
 */
#ifndef CUDLA_SIM_KERNELS_INDICES_H
#define CUDLA_SIM_KERNELS_INDICES_H

#include "../crt/launches.h"

#if defined(__x86_64__) && !defined(__clang__)
#define CUDLA_SIM_THREAD_X "r15"
#elif defined(__aarch64__) && !defined(__clang__)
#define CUDLA_SIM_THREAD_X "x28"
#endif
#if defined(CUDLA_SIM_THREAD_X)
register unsigned long cudla_sim_thread_x asm(CUDLA_SIM_THREAD_X);
#endif

namespace cudla_sim {

/* One that compilers keep apart from the numbers of programs. */
enum class Coordinate : unsigned {};

struct Component {
    Coordinate value;

    operator unsigned() const { return static_cast<unsigned>(value); }
    void set(unsigned to) { value = Coordinate(to); }
};

#if defined(CUDLA_SIM_THREAD_X)
struct ThreadX {
    Coordinate value; /* for debuggers, where nothing is optimized */

    operator unsigned() const { return static_cast<unsigned>(cudla_sim_thread_x); }
    unsigned long whole() const { return cudla_sim_thread_x; }
    void restore(unsigned long to) { cudla_sim_thread_x = to; } /* outside kernels the register is anyone's */
    void set(unsigned to) {
        cudla_sim_thread_x = to;
#if !defined(__OPTIMIZE__)
        value = Coordinate(to);
#endif
    }
    /* What follows is of this thread: no loop is taken apart into one for the register and one for the rest. */
    void keep() { asm volatile("" : "+r"(cudla_sim_thread_x)); }
};
#else
struct ThreadX : Component {
    unsigned whole() const { return *this; }
    void restore(unsigned to) { set(to); }
    void keep() {}
};
#endif

template <class X> struct Index { /* threadIdx and blockIdx: CUDA's type is uint3 */
    X x;
    Component y, z;

    operator uint3() const { return uint3{x, y, z}; }
    void set(const uint3 &to) {
        x.set(to.x);
        y.set(to.y);
        z.set(to.z);
    }
};

struct Extent { /* blockDim and gridDim */
    Component x, y, z;

    operator dim3() const { return dim3(x, y, z); }
    void set(const dim3 &to) {
        x.set(to.x);
        y.set(to.y);
        z.set(to.z);
    }
};

/* What a program has for a name like theirs: ours with CUDA's type, or its own variable. */
template <class X> inline __attribute__((always_inline)) uint3 part(Index<X> &own) { return own; }
inline __attribute__((always_inline)) dim3 part(Extent &own) { return own; }
template <class T> constexpr T &part(T &other) { return other; }

} // namespace cudla_sim

/* Objects, as programs have variables of these names. These headers change them as ::threadIdx, which is not taken for
 * a reading (cuda_kernels/rewrite.py). */
inline thread_local cudla_sim::Index<cudla_sim::ThreadX> threadIdx{};
inline thread_local cudla_sim::Index<cudla_sim::Component> blockIdx{};
inline thread_local cudla_sim::Extent blockDim{}, gridDim{};

#endif
