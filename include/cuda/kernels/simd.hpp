/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/simd.hpp - words as two halves or four bytes (CUDA Math API, "SIMD Intrinsics").
 */
#ifndef CUDLA_SIM_KERNELS_SIMD_H
#define CUDLA_SIM_KERNELS_SIMD_H

#include <cstdint>
#include <type_traits>

namespace cudla_sim {

template <class T> inline int saturated(int value) {
    constexpr int least = std::is_signed<T>::value ? -(1 << (8 * sizeof(T) - 1)) : 0;
    constexpr int most = (1 << (8 * sizeof(T) - std::is_signed<T>::value)) - 1;
    return value < least ? least : value > most ? most : value;
}

inline int larger(int a, int b) { return a > b ? a : b; }
inline int smaller(int a, int b) { return a < b ? a : b; }
inline int distance(int a, int b) { return a > b ? a - b : b - a; }

} // namespace cudla_sim

/* Each part of the words, 8 or 16 bits, made into one of the same place. No templates: those that a precompiled header
 * calls are instantiated behind it, in each compilation. */
#define CUDLA_SIM_PART(type, word, at) static_cast<int>(static_cast<type>((word) >> (at)))
#define CUDLA_SIM_EACH_PART(type, found)                                                           \
    unsigned result = 0;                                                                           \
    for (unsigned at = 0; at < 32; at += 8 * sizeof(type))                                         \
        result |= (static_cast<unsigned>(found) & ((1u << 8 * sizeof(type)) - 1)) << at;           \
    return result
#define CUDLA_SIM_PARTS(name, type, expression)                                                    \
    inline unsigned name(unsigned a, unsigned b) {                                                 \
        auto of = [](int x, int y) -> int { return expression; };                                  \
        CUDLA_SIM_EACH_PART(type, of(CUDLA_SIM_PART(type, a, at), CUDLA_SIM_PART(type, b, at)));    \
    }
#define CUDLA_SIM_PARTS_OF_ONE(name, type, expression)                                             \
    inline unsigned name(unsigned a) {                                                             \
        auto of = [](int x) -> int { return expression; };                                         \
        CUDLA_SIM_EACH_PART(type, of(CUDLA_SIM_PART(type, a, at)));                                \
    }
#define CUDLA_SIM_SUM(name, type)                                                                  \
    inline unsigned name(unsigned a, unsigned b) {                                                 \
        unsigned sum = 0;                                                                          \
        for (unsigned at = 0; at < 32; at += 8 * sizeof(type))                                     \
            sum += static_cast<unsigned>(                                                          \
                ::cudla_sim::distance(CUDLA_SIM_PART(type, a, at), CUDLA_SIM_PART(type, b, at)));   \
        return sum;                                                                                \
    }
/* Comparisons: all bits of a part, or its lowest. */
#define CUDLA_SIM_COMPARED(how, type, width, sign)                                                 \
    CUDLA_SIM_PARTS(__vcmp##sign##width, type, (how) ? -1 : 0)                                     \
    CUDLA_SIM_PARTS(__vset##sign##width, type, (how) ? 1 : 0)

#define CUDLA_SIM_WIDTH(width, signed_type, unsigned_type)                                         \
    CUDLA_SIM_PARTS_OF_ONE(__vabs##width, signed_type, x < 0 ? -x : x)                             \
    CUDLA_SIM_PARTS_OF_ONE(__vabsss##width, signed_type, ::cudla_sim::saturated<signed_type>(x < 0 ? -x : x)) \
    CUDLA_SIM_PARTS_OF_ONE(__vneg##width, signed_type, -x)                                         \
    CUDLA_SIM_PARTS_OF_ONE(__vnegss##width, signed_type, ::cudla_sim::saturated<signed_type>(-x))  \
    CUDLA_SIM_PARTS(__vabsdiffs##width, signed_type, ::cudla_sim::distance(x, y))                  \
    CUDLA_SIM_PARTS(__vabsdiffu##width, unsigned_type, ::cudla_sim::distance(x, y))                \
    CUDLA_SIM_PARTS(__vadd##width, unsigned_type, x + y)                                           \
    CUDLA_SIM_PARTS(__vaddss##width, signed_type, ::cudla_sim::saturated<signed_type>(x + y))      \
    CUDLA_SIM_PARTS(__vaddus##width, unsigned_type, ::cudla_sim::saturated<unsigned_type>(x + y))  \
    CUDLA_SIM_PARTS(__vsub##width, unsigned_type, x - y)                                           \
    CUDLA_SIM_PARTS(__vsubss##width, signed_type, ::cudla_sim::saturated<signed_type>(x - y))      \
    CUDLA_SIM_PARTS(__vsubus##width, unsigned_type, ::cudla_sim::saturated<unsigned_type>(x - y))  \
    CUDLA_SIM_PARTS(__vavgs##width, signed_type, x + y < 0 ? (x + y) / 2 : (x + y + 1) / 2)        \
    CUDLA_SIM_PARTS(__vavgu##width, unsigned_type, (x + y + 1) / 2)                                \
    CUDLA_SIM_PARTS(__vhaddu##width, unsigned_type, (x + y) / 2)                                   \
    CUDLA_SIM_PARTS(__vmaxs##width, signed_type, ::cudla_sim::larger(x, y))                        \
    CUDLA_SIM_PARTS(__vmaxu##width, unsigned_type, ::cudla_sim::larger(x, y))                      \
    CUDLA_SIM_PARTS(__vmins##width, signed_type, ::cudla_sim::smaller(x, y))                       \
    CUDLA_SIM_PARTS(__vminu##width, unsigned_type, ::cudla_sim::smaller(x, y))                     \
    CUDLA_SIM_SUM(__vsads##width, signed_type)                                                     \
    CUDLA_SIM_SUM(__vsadu##width, unsigned_type)                                                   \
    CUDLA_SIM_COMPARED(x == y, unsigned_type, width, eq)                                           \
    CUDLA_SIM_COMPARED(x != y, unsigned_type, width, ne)                                           \
    CUDLA_SIM_COMPARED(x >= y, signed_type, width, ges)                                            \
    CUDLA_SIM_COMPARED(x >= y, unsigned_type, width, geu)                                          \
    CUDLA_SIM_COMPARED(x > y, signed_type, width, gts)                                             \
    CUDLA_SIM_COMPARED(x > y, unsigned_type, width, gtu)                                           \
    CUDLA_SIM_COMPARED(x <= y, signed_type, width, les)                                            \
    CUDLA_SIM_COMPARED(x <= y, unsigned_type, width, leu)                                          \
    CUDLA_SIM_COMPARED(x < y, signed_type, width, lts)                                             \
    CUDLA_SIM_COMPARED(x < y, unsigned_type, width, ltu)

CUDLA_SIM_WIDTH(2, int16_t, uint16_t)
CUDLA_SIM_WIDTH(4, int8_t, uint8_t)

#undef CUDLA_SIM_WIDTH
#undef CUDLA_SIM_COMPARED
#undef CUDLA_SIM_SUM
#undef CUDLA_SIM_PARTS_OF_ONE
#undef CUDLA_SIM_PARTS
#undef CUDLA_SIM_EACH_PART
#undef CUDLA_SIM_PART

#endif
