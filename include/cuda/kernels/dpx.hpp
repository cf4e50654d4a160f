/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/dpx.hpp - largest and smallest of sums and of three, of words and of their halves (CUDA C++
 * Programming Guide, "DPX"; CUDA Math API, "SIMD Intrinsics"). Sums wrap in their width; with `relu` what is
 * below zero becomes zero; a predicate says that the first operand was taken.
 */
#ifndef CUDLA_SIM_KERNELS_DPX_H
#define CUDLA_SIM_KERNELS_DPX_H

#include <cstdint>

namespace cudla_sim {

template <class T> inline T taken(T a, T b, bool largest) { return (largest ? a >= b : a <= b) ? a : b; }
template <class T> inline T wrapped_sum(T a, T b) {
    return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
template <class T> inline T of_sum(T a, T b, T c, bool largest) { return taken(wrapped_sum(a, b), c, largest); }
template <class T> inline T of_three(T a, T b, T c, bool largest) {
    return taken(taken(a, b, largest), c, largest);
}
template <class T> inline T relu(T value) { return value > 0 ? value : T(0); }

template <class T> inline T taken(T a, T b, bool largest, bool *first) {
    *first = largest ? a >= b : a <= b;
    return *first ? a : b;
}
template <class T>
inline unsigned taken_halves(unsigned a, unsigned b, bool largest, bool *high, bool *low) {
    unsigned lower = static_cast<uint16_t>(taken(static_cast<T>(a), static_cast<T>(b), largest, low));
    unsigned upper =
        static_cast<uint16_t>(taken(static_cast<T>(a >> 16), static_cast<T>(b >> 16), largest, high));
    return upper << 16 | lower;
}

} // namespace cudla_sim

#define CUDLA_SIM_WORD(name, type, how)                                                            \
    inline type name(type a, type b, type c) { return ::cudla_sim::how; }
#define CUDLA_SIM_HALVES(name, type, how)                                                          \
    inline unsigned name(unsigned a, unsigned b, unsigned c) {                                     \
        auto of = [](type x, type y, type z) -> type { return ::cudla_sim::how; };                 \
        unsigned low = static_cast<uint16_t>(                                                      \
            of(static_cast<type>(a), static_cast<type>(b), static_cast<type>(c)));                 \
        unsigned high = static_cast<uint16_t>(                                                     \
            of(static_cast<type>(a >> 16), static_cast<type>(b >> 16), static_cast<type>(c >> 16))); \
        return high << 16 | low;                                                                   \
    }
/* `add` and `three`: how names begin; `largest`: of which kind they are. */
#define CUDLA_SIM_DPX(add, three, two, both, largest)                                              \
    CUDLA_SIM_WORD(add##_s32, int, of_sum(a, b, c, largest))                                       \
    CUDLA_SIM_WORD(add##_s32_relu, int, relu(::cudla_sim::of_sum(a, b, c, largest)))               \
    CUDLA_SIM_WORD(add##_u32, unsigned, of_sum(a, b, c, largest))                                  \
    CUDLA_SIM_HALVES(add##_s16x2, int16_t, of_sum(x, y, z, largest))                               \
    CUDLA_SIM_HALVES(add##_s16x2_relu, int16_t, relu(::cudla_sim::of_sum(x, y, z, largest)))       \
    CUDLA_SIM_HALVES(add##_u16x2, uint16_t, of_sum(x, y, z, largest))                              \
    CUDLA_SIM_WORD(three##_s32, int, of_three(a, b, c, largest))                                   \
    CUDLA_SIM_WORD(three##_s32_relu, int, relu(::cudla_sim::of_three(a, b, c, largest)))           \
    CUDLA_SIM_WORD(three##_u32, unsigned, of_three(a, b, c, largest))                              \
    CUDLA_SIM_HALVES(three##_s16x2, int16_t, of_three(x, y, z, largest))                           \
    CUDLA_SIM_HALVES(three##_s16x2_relu, int16_t, relu(::cudla_sim::of_three(x, y, z, largest)))   \
    CUDLA_SIM_HALVES(three##_u16x2, uint16_t, of_three(x, y, z, largest))                          \
    inline int two##_s32_relu(int a, int b) { return ::cudla_sim::relu(::cudla_sim::taken(a, b, largest)); } \
    inline unsigned two##_s16x2_relu(unsigned a, unsigned b) {                                     \
        return three##_s16x2_relu(a, b, b);                                                        \
    }                                                                                              \
    inline int both##_s32(int a, int b, bool *first) {                                             \
        return ::cudla_sim::taken(a, b, largest, first);                                           \
    }                                                                                              \
    inline unsigned both##_u32(unsigned a, unsigned b, bool *first) {                              \
        return ::cudla_sim::taken(a, b, largest, first);                                           \
    }                                                                                              \
    inline unsigned both##_s16x2(unsigned a, unsigned b, bool *high, bool *low) {                  \
        return ::cudla_sim::taken_halves<int16_t>(a, b, largest, high, low);                       \
    }                                                                                              \
    inline unsigned both##_u16x2(unsigned a, unsigned b, bool *high, bool *low) {                  \
        return ::cudla_sim::taken_halves<uint16_t>(a, b, largest, high, low);                      \
    }

CUDLA_SIM_DPX(__viaddmax, __vimax3, __vimax, __vibmax, true)
CUDLA_SIM_DPX(__viaddmin, __vimin3, __vimin, __vibmin, false)

#undef CUDLA_SIM_DPX
#undef CUDLA_SIM_HALVES
#undef CUDLA_SIM_WORD

#endif
