/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_halves_integers.hpp - numbers of 16 bits from integers and as integers, in each direction (CUDA Math API,
 * "Half Precision Conversion And Data Movement", "Bfloat16 Precision Conversion and Data Movement"). Included by
 * cuda_fp16.hpp.
 */
#ifndef CUDLA_SIM_CUDA_HALVES_INTEGERS_HPP
#define CUDLA_SIM_CUDA_HALVES_INTEGERS_HPP

#include <math.h>

#include <limits>

#define CUDLA_SIM_OF_HALVES static inline __attribute__((unused))

/* To an integer of `T`, to the nearest one that there is; NaN is 0. */
template <class T> CUDLA_SIM_OF_HALVES T cudla_sim_half_to_integer(const double whole) {
    typedef std::numeric_limits<T> of;
    if (whole != whole)
        return 0;
    if (whole <= static_cast<double>((of::min)()))
        return (of::min)();
    return whole >= static_cast<double>((of::max)()) ? (of::max)() : static_cast<T>(whole);
}

template <class T> CUDLA_SIM_OF_HALVES bool cudla_sim_negative(const T a) { return a < T{0}; }

/* A double that rounds to fewer digits as the integer does: what it has no place for makes it odd. */
template <class T> CUDLA_SIM_OF_HALVES double cudla_sim_odd_number(const T a) {
    const unsigned long long lowest = 1ULL << 11; /* of the 53 bits from the uppermost on */
    const bool negative = cudla_sim_negative(a);
    unsigned long long size = static_cast<unsigned long long>(a);
    if (negative)
        size = 0ULL - size;
    if (size >> 53 != 0 && (size & (lowest - 1)) != 0)
        size = (size | lowest) & ~(lowest - 1);
    return negative ? -static_cast<double>(size) : static_cast<double>(size);
}

/* The numbers around another one, from the nearest one's bits. */
CUDLA_SIM_OF_HALVES unsigned short cudla_sim_half_step(const unsigned short bits, const bool up) {
    const bool negative = (bits & 0x8000U) != 0;
    if ((bits & 0x7fffU) == 0)
        return up ? 0x0001 : 0x8001;
    return static_cast<unsigned short>(negative == up ? bits - 1 : bits + 1);
}

/* The integer in a direction; `nearest` has the value of `bits`. */
template <class T>
CUDLA_SIM_OF_HALVES unsigned short cudla_sim_half_directed(const T a, const unsigned short bits, const float nearest,
                                                        const bool up) {
    __extension__ typedef __int128 Wide;
    const bool infinite = isinf(nearest);
    const Wide exact = a, near = infinite ? 0 : static_cast<Wide>(nearest);
    const bool below = infinite ? nearest < 0.0f : near < exact, above = infinite ? nearest > 0.0f : near > exact;
    return (up ? below : above) ? cudla_sim_half_step(bits, up) : bits;
}

/* `real` as in the names of functions, of the type `Real`; `number` makes a float of it. */
#define CUDLA_SIM_HALVES_TO(Real, real, number, T, name)                                                            \
    CUDLA_SIM_OF_HALVES T __##real##2##name##_rn(const Real a) {                                                    \
        return cudla_sim_half_to_integer<T>(nearbyint(number(a)));                                                  \
    }                                                                                                               \
    CUDLA_SIM_OF_HALVES T __##real##2##name##_rz(const Real a) {                                                    \
        return cudla_sim_half_to_integer<T>(trunc(number(a)));                                                      \
    }                                                                                                               \
    CUDLA_SIM_OF_HALVES T __##real##2##name##_rd(const Real a) {                                                    \
        return cudla_sim_half_to_integer<T>(floor(number(a)));                                                      \
    }                                                                                                               \
    CUDLA_SIM_OF_HALVES T __##real##2##name##_ru(const Real a) {                                                    \
        return cudla_sim_half_to_integer<T>(ceil(number(a)));                                                       \
    }
#define CUDLA_SIM_HALVES_FROM(Real, real, number, T, name)                                                          \
    CUDLA_SIM_OF_HALVES Real __##name##2##real##_rn(const T a) { return __double2##real(cudla_sim_odd_number(a)); } \
    CUDLA_SIM_OF_HALVES Real __##name##2##real##_rd(const T a) {                                                    \
        const Real near = __##name##2##real##_rn(a);                                                                \
        return __ushort_as_##real(cudla_sim_half_directed(a, __##real##_as_ushort(near), number(near), false));     \
    }                                                                                                               \
    CUDLA_SIM_OF_HALVES Real __##name##2##real##_ru(const T a) {                                                    \
        const Real near = __##name##2##real##_rn(a);                                                                \
        return __ushort_as_##real(cudla_sim_half_directed(a, __##real##_as_ushort(near), number(near), true));      \
    }                                                                                                               \
    CUDLA_SIM_OF_HALVES Real __##name##2##real##_rz(const T a) {                                                    \
        return cudla_sim_negative(a) ? __##name##2##real##_ru(a) : __##name##2##real##_rd(a);                       \
    }
#define CUDLA_SIM_HALVES_INTEGER(Real, real, number, T, name)                                                       \
    CUDLA_SIM_HALVES_TO(Real, real, number, T, name)                                                                \
    CUDLA_SIM_HALVES_FROM(Real, real, number, T, name)
#define CUDLA_SIM_HALVES_INTEGERS(Real, real, number)                                                               \
    CUDLA_SIM_HALVES_INTEGER(Real, real, number, int, int)                                                          \
    CUDLA_SIM_HALVES_INTEGER(Real, real, number, unsigned int, uint)                                                \
    CUDLA_SIM_HALVES_INTEGER(Real, real, number, short, short)                                                      \
    CUDLA_SIM_HALVES_INTEGER(Real, real, number, unsigned short, ushort)                                            \
    CUDLA_SIM_HALVES_INTEGER(Real, real, number, long long, ll)                                                     \
    CUDLA_SIM_HALVES_INTEGER(Real, real, number, unsigned long long, ull)                                           \
    CUDLA_SIM_OF_HALVES signed char __##real##2char_rz(const Real a) {                                              \
        return cudla_sim_half_to_integer<signed char>(trunc(number(a)));                                            \
    }                                                                                                               \
    CUDLA_SIM_OF_HALVES unsigned char __##real##2uchar_rz(const Real a) {                                           \
        return cudla_sim_half_to_integer<unsigned char>(trunc(number(a)));                                          \
    }

#endif /* CUDLA_SIM_CUDA_HALVES_INTEGERS_HPP */
