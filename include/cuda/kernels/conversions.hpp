/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/conversions.hpp - between numbers, with a rounding (CUDA Math API, "Type Casting Intrinsics").
 */
#ifndef CUDLA_SIM_KERNELS_CONVERSIONS_H
#define CUDLA_SIM_KERNELS_CONVERSIONS_H

#include <cmath>

#include "../cuda_fp16.h"
#include "builtins.hpp"

namespace cudla_sim {
/* A real number as an integer, held where the integer ends. A NaN is 0 where both have 32 bits or less, else the
 * integer's highest bit (PTX ISA, "cvt"). */
template <class To> inline To whole(double value, bool wide = false) {
    if (wide && value != value)
        return static_cast<To>(static_cast<std::make_unsigned_t<To>>(1) << (8 * sizeof(To) - 1));
    return cudla_sim_half_to_integer<To>(value);
}

/* A number as another one, rounded in a way; what is volatile is not converted by the compiler. */
template <class To, class From> inline To rounded(From value, int way) {
    Rounding rounding(way);
    volatile From from = value;
    volatile To to = static_cast<To>(from);
    return to;
}
} // namespace cudla_sim

inline double __hiloint2double(int high, int low) {
    unsigned long long bits = static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32;
    return __longlong_as_double(static_cast<long long>(bits | static_cast<unsigned>(low)));
}

#define CUDLA_SIM_TO_INTEGER(From, from, To, to, wide)                                                              \
    inline To __##from##2##to##_rn(From x) { return cudla_sim::whole<To>(std::nearbyint(x), wide); }                \
    inline To __##from##2##to##_rz(From x) { return cudla_sim::whole<To>(std::trunc(x), wide); }                    \
    inline To __##from##2##to##_rd(From x) { return cudla_sim::whole<To>(std::floor(x), wide); }                    \
    inline To __##from##2##to##_ru(From x) { return cudla_sim::whole<To>(std::ceil(x), wide); }
CUDLA_SIM_TO_INTEGER(float, float, int, int, false)
CUDLA_SIM_TO_INTEGER(float, float, unsigned, uint, false)
CUDLA_SIM_TO_INTEGER(float, float, long long, ll, true)
CUDLA_SIM_TO_INTEGER(float, float, unsigned long long, ull, true)
CUDLA_SIM_TO_INTEGER(double, double, int, int, true)
CUDLA_SIM_TO_INTEGER(double, double, unsigned, uint, true)
CUDLA_SIM_TO_INTEGER(double, double, long long, ll, true)
CUDLA_SIM_TO_INTEGER(double, double, unsigned long long, ull, true)
#undef CUDLA_SIM_TO_INTEGER

#define CUDLA_SIM_TO_REAL(From, from, To, to)                                                                       \
    inline To __##from##2##to##_rn(From x) { return static_cast<To>(x); }                                           \
    inline To __##from##2##to##_rz(From x) { return cudla_sim::rounded<To>(x, FE_TOWARDZERO); }                     \
    inline To __##from##2##to##_rd(From x) { return cudla_sim::rounded<To>(x, FE_DOWNWARD); }                       \
    inline To __##from##2##to##_ru(From x) { return cudla_sim::rounded<To>(x, FE_UPWARD); }
CUDLA_SIM_TO_REAL(int, int, float, float)
CUDLA_SIM_TO_REAL(unsigned, uint, float, float)
CUDLA_SIM_TO_REAL(long long, ll, float, float)
CUDLA_SIM_TO_REAL(unsigned long long, ull, float, float)
CUDLA_SIM_TO_REAL(long long, ll, double, double)
CUDLA_SIM_TO_REAL(unsigned long long, ull, double, double)
CUDLA_SIM_TO_REAL(double, double, float, float)
#undef CUDLA_SIM_TO_REAL
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

#endif
