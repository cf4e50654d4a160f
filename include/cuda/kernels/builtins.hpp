/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/builtins.hpp - what device code has without an include: indices, barriers, atomics, votes
 * and shuffles, functions of the hardware. Meanings: CUDA C++ Programming Guide, "C++ language
 * extensions"; CUDA Math API.
 */
#ifndef CUDLA_SIM_KERNELS_BUILTINS_H
#define CUDLA_SIM_KERNELS_BUILTINS_H

/* With its function, whatever NDEBUG says: assertion_failed calls it. */
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <cassert>
#pragma pop_macro("NDEBUG")
#include <cassert>
#include <cfenv>
#include <atomic>
#include <cmath>

#include "../cuda_fp16.h"
#include "engine.hpp"

constexpr int warpSize = cudla_sim::WARP;

/* --- barriers -------------------------------------------------------------------------------- */

inline void __syncthreads() { cudla_sim::block_barrier("__syncthreads"); }

inline int __syncthreads_count(int predicate) {
    cudla_sim::block->votes[0] += predicate != 0;
    cudla_sim::block_barrier("__syncthreads_count");
    return static_cast<int>(cudla_sim::block->last_votes[0]);
}
inline int __syncthreads_and(int predicate) {
    cudla_sim::block->votes[1] &= predicate != 0;
    cudla_sim::block_barrier("__syncthreads_and");
    return static_cast<int>(cudla_sim::block->last_votes[1]);
}
inline int __syncthreads_or(int predicate) {
    cudla_sim::block->votes[2] |= predicate != 0;
    cudla_sim::block_barrier("__syncthreads_or");
    return static_cast<int>(cudla_sim::block->last_votes[2]);
}

inline void __syncwarp(unsigned mask = ~0u) { cudla_sim::lanes_barrier(mask, "__syncwarp"); }
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
[[noreturn]] inline void __trap() { cudla_sim::fail_launch(cudaErrorLaunchFailure, "__trap"); }

/* A failed assert: printed as a GPU prints it, then the launch fails. In host code it is the
 * host's. */
namespace cudla_sim {
[[noreturn]] inline void assertion_failed(const char *what, const char *file, unsigned line,
                                          const char *function) {
    if (!block)
        (__assert_fail)(what, file, line, function);
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            file, line, function, block->index.x, block->index.y, block->index.z, threadIdx.x,
            threadIdx.y, threadIdx.z, what);
    fflush(stderr);
    char text[sizeof Failure::what];
    snprintf(text, sizeof text, "assertion `%s` failed at %s:%u", what, file, line);
    fail_launch(cudaErrorAssert, text);
}
} // namespace cudla_sim

/* --- atomics: blocks run beside each other --------------------------------------------------- */

namespace cudla_sim {

template <class T, class Next> inline T changed(T *address, Next next) {
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    for (;;) {
        T fresh = next(old);
        if (__atomic_compare_exchange(address, &old, &fresh, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST))
            return old;
    }
}

} // namespace cudla_sim

#define CUDLA_SIM_ATOMIC(name, T, expression)                                         \
    inline T name(T *address, T val) {                                                \
        return cudla_sim::changed(address, [val](T old) -> T { return expression; }); \
    }                                                                                 \
    inline T name##_block(T *address, T val) { return name(address, val); }           \
    inline T name##_system(T *address, T val) { return name(address, val); }
#define CUDLA_SIM_ATOMIC_BITS(T)                          \
    CUDLA_SIM_ATOMIC(atomicMin, T, val < old ? val : old) \
    CUDLA_SIM_ATOMIC(atomicMax, T, val > old ? val : old) \
    CUDLA_SIM_ATOMIC(atomicAnd, T, old &val)              \
    CUDLA_SIM_ATOMIC(atomicOr, T, old | val)              \
    CUDLA_SIM_ATOMIC(atomicXor, T, old ^ val)
#define CUDLA_SIM_ATOMIC_CAS(T)                                                      \
    inline T atomicCAS(T *address, T compare, T val) {                               \
        __atomic_compare_exchange_n(address, &compare, val, false, __ATOMIC_SEQ_CST, \
                                    __ATOMIC_SEQ_CST);                               \
        return compare;                                                              \
    }                                                                                \
    inline T atomicCAS_block(T *address, T compare, T val) {                         \
        return atomicCAS(address, compare, val);                                     \
    }                                                                                \
    inline T atomicCAS_system(T *address, T compare, T val) {                        \
        return atomicCAS(address, compare, val);                                     \
    }
/* For these types and no others (CUDA C++ Programming Guide, "Atomic Functions"): programs have the
 * rest themselves. */
CUDLA_SIM_ATOMIC(atomicAdd, int, old + val)
CUDLA_SIM_ATOMIC(atomicAdd, unsigned int, old + val)
CUDLA_SIM_ATOMIC(atomicAdd, unsigned long long int, old + val)
CUDLA_SIM_ATOMIC(atomicAdd, float, old + val)
CUDLA_SIM_ATOMIC(atomicAdd, double, old + val)
CUDLA_SIM_ATOMIC(atomicAdd, __half, old + val)
CUDLA_SIM_ATOMIC(atomicAdd, __half2, __hadd2(old, val))
CUDLA_SIM_ATOMIC(atomicSub, int, old - val)
CUDLA_SIM_ATOMIC(atomicSub, unsigned int, old - val)
CUDLA_SIM_ATOMIC(atomicExch, int, ((void)old, val))
CUDLA_SIM_ATOMIC(atomicExch, unsigned int, ((void)old, val))
CUDLA_SIM_ATOMIC(atomicExch, unsigned long long int, ((void)old, val))
CUDLA_SIM_ATOMIC(atomicExch, float, ((void)old, val))
CUDLA_SIM_ATOMIC_BITS(int)
CUDLA_SIM_ATOMIC_BITS(unsigned int)
CUDLA_SIM_ATOMIC_BITS(long long int)
CUDLA_SIM_ATOMIC_BITS(unsigned long long int)
CUDLA_SIM_ATOMIC_CAS(int)
CUDLA_SIM_ATOMIC_CAS(unsigned int)
CUDLA_SIM_ATOMIC_CAS(unsigned long long int)
CUDLA_SIM_ATOMIC_CAS(unsigned short int)
CUDLA_SIM_ATOMIC(atomicInc, unsigned int, old >= val ? 0u : old + 1u)
CUDLA_SIM_ATOMIC(atomicDec, unsigned int, old == 0u || old > val ? val : old - 1u)
#undef CUDLA_SIM_ATOMIC_BITS
#undef CUDLA_SIM_ATOMIC_CAS
#undef CUDLA_SIM_ATOMIC

/* --- votes and shuffles: lanes of a mask meet ------------------------------------------------ */

namespace cudla_sim {

/* The lane's own value where the source is outside its part, or no lane of the mask that lives. */
template <class T>
inline T shuffled(unsigned mask, T value, int source, bool inside, const char *what) {
    return exchange(mask, value, what, [&](const Exchange &lanes) {
        return inside && (lanes.alive >> source & 1) ? slot<T>(lanes, source) : value;
    });
}

} // namespace cudla_sim

inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return cudla_sim::exchange(
        mask, predicate != 0, "__ballot_sync", [&](const cudla_sim::Exchange &lanes) {
            unsigned found = 0;
            for (unsigned i = 0; i < cudla_sim::WARP; i++)
                if ((mask & lanes.alive) >> i & 1)
                    found |= static_cast<unsigned>(cudla_sim::slot<bool>(lanes, i)) << i;
            return found;
        });
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
template <class T> inline unsigned __match_any_sync(unsigned mask, T value) {
    return cudla_sim::exchange(
        mask, value, "__match_any_sync", [&](const cudla_sim::Exchange &lanes) {
            unsigned found = 0;
            for (unsigned i = 0; i < cudla_sim::WARP; i++)
                if ((mask & lanes.alive) >> i & 1)
                    found |= static_cast<unsigned>(cudla_sim::slot<T>(lanes, i) == value) << i;
            return found;
        });
}

/* Of a distance the hardware has the low five bits (PTX ISA, "shfl.sync"). */
template <class T> inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    int first = static_cast<int>(cudla_sim::lane()) & ~(width - 1);
    return cudla_sim::shuffled(mask, value, first + (source & (width - 1)), true, "__shfl_sync");
}
template <class T> inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int own = static_cast<int>(cudla_sim::lane()), first = own & ~(width - 1);
    int source = own - static_cast<int>(delta % 32);
    return cudla_sim::shuffled(mask, value, source, source >= first, "__shfl_up_sync");
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int own = static_cast<int>(cudla_sim::lane()), first = own & ~(width - 1);
    int source = own + static_cast<int>(delta % 32);
    return cudla_sim::shuffled(mask, value, source, source < first + width, "__shfl_down_sync");
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    int own = static_cast<int>(cudla_sim::lane()), first = own & ~(width - 1);
    int source = own ^ (bits & 31);
    return cudla_sim::shuffled(mask, value, source, source < first + width, "__shfl_xor_sync");
}

namespace cudla_sim {

template <class T, class Two> inline T reduced(unsigned mask, T value, const char *what, Two two) {
    return exchange(mask, value, what, [&](const Exchange &lanes) {
        bool first = true;
        T result = value;
        for (unsigned i = 0; i < WARP; i++)
            if ((mask & lanes.alive) >> i & 1) {
                T other = slot<T>(lanes, i);
                result = first ? other : two(result, other);
                first = false;
            }
        return result;
    });
}

} // namespace cudla_sim

#define CUDLA_SIM_REDUCE(name, T, expression)                                                    \
    inline T name(unsigned mask, T value) {                                                      \
        return cudla_sim::reduced(mask, value, #name, [](T a, T b) -> T { return expression; }); \
    }
CUDLA_SIM_REDUCE(__reduce_add_sync, int, a + b)
CUDLA_SIM_REDUCE(__reduce_add_sync, unsigned, a + b)
CUDLA_SIM_REDUCE(__reduce_min_sync, int, a < b ? a : b)
CUDLA_SIM_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
CUDLA_SIM_REDUCE(__reduce_max_sync, int, a > b ? a : b)
CUDLA_SIM_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
CUDLA_SIM_REDUCE(__reduce_and_sync, unsigned, a &b)
CUDLA_SIM_REDUCE(__reduce_or_sync, unsigned, a | b)
CUDLA_SIM_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CUDLA_SIM_REDUCE

/* --- functions of the hardware --------------------------------------------------------------- */

#define CUDLA_SIM_LEAST_MOST(T)                      \
    inline T min(T a, T b) { return b < a ? b : a; } \
    inline T max(T a, T b) { return a < b ? b : a; }
CUDLA_SIM_LEAST_MOST(int)
CUDLA_SIM_LEAST_MOST(unsigned int)
CUDLA_SIM_LEAST_MOST(long)
CUDLA_SIM_LEAST_MOST(unsigned long)
CUDLA_SIM_LEAST_MOST(long long)
CUDLA_SIM_LEAST_MOST(unsigned long long)
#undef CUDLA_SIM_LEAST_MOST
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
inline unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
inline unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
inline unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }

inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

template <class T> inline T __ldg(const T *address) { return *address; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline void __sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

/* Rounded down, up and towards zero. What is volatile is not computed by the compiler, which rounds
 * to the nearest. */
namespace cudla_sim {
struct Rounding {
    const int before = fegetround();
    explicit Rounding(int way) { fesetround(way); }
    ~Rounding() { fesetround(before); }
};
} // namespace cudla_sim
#define CUDLA_SIM_ROUNDED(T, name, suffix, way, parameters, first, expression) \
    inline T name##suffix parameters {                                         \
        cudla_sim::Rounding rounding(way);                                     \
        volatile T a = first, result = expression;                             \
        return result;                                                         \
    }
#define CUDLA_SIM_ROUNDINGS(T, name, parameters, first, expression)             \
    CUDLA_SIM_ROUNDED(T, name, _rd, FE_DOWNWARD, parameters, first, expression) \
    CUDLA_SIM_ROUNDED(T, name, _ru, FE_UPWARD, parameters, first, expression)   \
    CUDLA_SIM_ROUNDED(T, name, _rz, FE_TOWARDZERO, parameters, first, expression)
CUDLA_SIM_ROUNDINGS(float, __fadd, (float x, float y), x, a + y)
CUDLA_SIM_ROUNDINGS(float, __fsub, (float x, float y), x, a - y)
CUDLA_SIM_ROUNDINGS(float, __fmul, (float x, float y), x, a *y)
CUDLA_SIM_ROUNDINGS(float, __fdiv, (float x, float y), x, a / y)
CUDLA_SIM_ROUNDINGS(float, __frcp, (float x), x, 1.0f / a)
CUDLA_SIM_ROUNDINGS(float, __fsqrt, (float x), x, sqrtf(a))
CUDLA_SIM_ROUNDINGS(float, __fmaf, (float x, float y, float z), x, fmaf(a, y, z))
CUDLA_SIM_ROUNDINGS(double, __dadd, (double x, double y), x, a + y)
CUDLA_SIM_ROUNDINGS(double, __dsub, (double x, double y), x, a - y)
CUDLA_SIM_ROUNDINGS(double, __dmul, (double x, double y), x, a *y)
CUDLA_SIM_ROUNDINGS(double, __ddiv, (double x, double y), x, a / y)
CUDLA_SIM_ROUNDINGS(double, __drcp, (double x), x, 1.0 / a)
CUDLA_SIM_ROUNDINGS(double, __dsqrt, (double x), x, sqrt(a))
CUDLA_SIM_ROUNDINGS(double, __fma, (double x, double y, double z), x, fma(a, y, z))
#undef CUDLA_SIM_ROUNDINGS
#undef CUDLA_SIM_ROUNDED
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }

inline int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline long long __mul64hi(long long x, long long y) {
    return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) {
    return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) {
    return __popc(static_cast<unsigned>(x)) + __popc(static_cast<unsigned>(x >> 32));
}
inline unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t both = static_cast<uint64_t>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned choice = selector >> 4 * i & 0xf;
        unsigned byte = static_cast<unsigned>(both >> 8 * (choice & 7) & 0xff);
        if (choice & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    shift &= 31;
    return shift ? high << shift | low >> (32 - shift) : high;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    shift &= 31;
    return shift ? low >> shift | high << (32 - shift) : low;
}
inline unsigned __sad(int x, int y, unsigned z) {
    return z + static_cast<unsigned>(x > y ? x - y : y - x);
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }

namespace cudla_sim {
template <class To, class From> inline To bits(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
} // namespace cudla_sim

inline int __float_as_int(float x) { return cudla_sim::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return cudla_sim::bits<unsigned>(x); }
inline float __int_as_float(int x) { return cudla_sim::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return cudla_sim::bits<float>(x); }
inline long long __double_as_longlong(double x) { return cudla_sim::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return cudla_sim::bits<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }

#endif
