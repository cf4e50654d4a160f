/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/integers.hpp - products of bytes, averages, places of bits, and what all lanes agree
 * about (CUDA Math API, "Integer Intrinsics"; CUDA C++ Programming Guide, "Warp Match Functions").
 */
#ifndef CUDLA_SIM_KERNELS_INTEGERS_H
#define CUDLA_SIM_KERNELS_INTEGERS_H

#include "../cuda_fp16.h"
#include "../vector_types.h"
#include "builtins.hpp"

/* --- sums of products of four bytes, and of two words with two bytes -----------------------------
 */

namespace cudla_sim {
/* Part `at` of a word, by the type of a part. */
template <class Part> inline int part_of(unsigned word, int at) {
    return static_cast<Part>(word >> 8 * static_cast<int>(sizeof(Part)) * at);
}
template <class Byte> inline unsigned four_products(unsigned a, unsigned b) {
    unsigned sum = 0;
    for (int i = 0; i < 4; i++)
        sum += static_cast<unsigned>(part_of<Byte>(a, i) * part_of<Byte>(b, i));
    return sum;
}
/* Bytes `first` and the next of b. */
template <class Word, class Byte> inline unsigned two_products(unsigned a, unsigned b, int first) {
    unsigned sum = 0;
    for (int i = 0; i < 2; i++)
        sum += static_cast<unsigned>(part_of<Word>(a, i)) *
               static_cast<unsigned>(part_of<Byte>(b, first + i));
    return sum;
}
} // namespace cudla_sim

inline int __dp4a(int a, int b, int c) {
    return static_cast<int>(
        cudla_sim::four_products<signed char>(static_cast<unsigned>(a), static_cast<unsigned>(b)) +
        static_cast<unsigned>(c));
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    return cudla_sim::four_products<unsigned char>(a, b) + c;
}
inline int __dp4a(char4 a, char4 b, int c) {
    return __dp4a(cudla_sim::bits<int>(a), cudla_sim::bits<int>(b), c);
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
    return __dp4a(cudla_sim::bits<unsigned>(a), cudla_sim::bits<unsigned>(b), c);
}
#define CUDLA_SIM_DP2A(name, first)                                                              \
    inline int name(int a, int b, int c) {                                                       \
        return static_cast<int>(cudla_sim::two_products<short, signed char>(                     \
                                    static_cast<unsigned>(a), static_cast<unsigned>(b), first) + \
                                static_cast<unsigned>(c));                                       \
    }                                                                                            \
    inline unsigned name(unsigned a, unsigned b, unsigned c) {                                   \
        return cudla_sim::two_products<unsigned short, unsigned char>(a, b, first) + c;          \
    }                                                                                            \
    inline int name(short2 a, char4 b, int c) {                                                  \
        return name(cudla_sim::bits<int>(a), cudla_sim::bits<int>(b), c);                        \
    }                                                                                            \
    inline unsigned name(ushort2 a, uchar4 b, unsigned c) {                                      \
        return name(cudla_sim::bits<unsigned>(a), cudla_sim::bits<unsigned>(b), c);              \
    }
CUDLA_SIM_DP2A(__dp2a_lo, 0)
CUDLA_SIM_DP2A(__dp2a_hi, 2)
#undef CUDLA_SIM_DP2A

/* --- averages, without what a sum has beyond 32 bits ---------------------------------------------
 */

inline int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
inline int __rhadd(int x, int y) {
    return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
inline unsigned __uhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}

/* --- bits ----------------------------------------------------------------------------------------
 */

inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
/* Where the offset-th bit that is set is, counted from bit `base` on, which counts, too: upwards,
 * or downwards for a negative offset. ~0 where there are fewer. */
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    if (base > 31)
        return ~0u;
    if (offset == 0)
        return mask >> base & 1u ? base : ~0u;
    int step = offset > 0 ? 1 : -1;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
        offset -= mask >> at & 1u ? step : 0;
        if (offset == 0)
            return static_cast<unsigned>(at);
    }
    return ~0u;
}

/* --- lanes ---------------------------------------------------------------------------------------
 */

/* The lanes where all have the same value, else none; those that are not there are none of them. */
template <class T> inline unsigned __match_all_sync(unsigned mask, T value, int *all) {
    const unsigned found =
        cudla_sim::exchange(mask, value, "__match_all_sync", [&](const cudla_sim::Exchange &lanes) {
            bool same = true;
            for (unsigned i = 0; i < cudla_sim::WARP; i++)
                if ((mask & lanes.alive) >> i & 1)
                    same &= cudla_sim::slot<T>(lanes, i) == value;
            return same ? mask & static_cast<unsigned>(lanes.alive) : 0u;
        });
    *all = found != 0;
    return found;
}
inline int __uni_sync(unsigned mask, int predicate) {
    int all;
    (void)__match_all_sync(mask, predicate != 0, &all);
    return all;
}

#endif
