/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/functions.hpp - functions that CUDA has and <cmath> has not (CUDA Math API, "Single Precision" and
 * "Double Precision Mathematical Functions"). Those of single precision are computed in double.
 */
#ifndef CUDLA_SIM_KERNELS_FUNCTIONS_H
#define CUDLA_SIM_KERNELS_FUNCTIONS_H

#include <cmath>
#include <limits>

#include "builtins.hpp"

namespace cudla_sim {
/* What is left of x where whole turns do not count: exact, in quarters of a turn. */
inline double of_turn(double x, int &quarter) {
    quarter = 0;
    if (!std::isfinite(x))
        return x - x;
    double rest = std::remainder(x, 2.0); /* from -1 to 1, in halves of a turn */
    double quarters = std::nearbyint(2.0 * rest);
    quarter = static_cast<int>(quarters) & 3;
    return rest - 0.5 * quarters;
}

/* Two steps of Halley's method from an approximation (Abramowitz and Stegun, 26.2.22). x is not above 1. */
inline double erfcinv_below(double x) {
    double t = std::sqrt(2.0 * (M_LN2 - std::log(x)));
    double y = -M_SQRT1_2 * ((2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)) - t);
    for (int i = 0; i < 3; i++) {
        double error = std::erfc(y) - x;
        y += error / (M_2_SQRTPI * std::exp(-y * y) - y * error);
    }
    return y;
}
} // namespace cudla_sim

#if !defined(__GLIBC_PREREQ)
#define CUDLA_SIM_HAS_SINPI 0
#else
#define CUDLA_SIM_HAS_SINPI __GLIBC_PREREQ(2, 41)
#endif
#if !CUDLA_SIM_HAS_SINPI /* else they are in <math.h> */
inline double sinpi(double x) {
    int quarter;
    double rest = cudla_sim::of_turn(x, quarter);
    double found = quarter & 1 ? std::cos(M_PI * rest) : std::sin(M_PI * rest);
    double value = quarter & 2 ? -found : found;
    return value == 0 ? std::copysign(0.0, x) : value;
}
inline double cospi(double x) {
    int quarter;
    double rest = cudla_sim::of_turn(x, quarter);
    double found = quarter & 1 ? -std::sin(M_PI * rest) : std::cos(M_PI * rest);
    return (quarter & 2 ? -found : found) + 0.0;
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
#endif
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }

inline double erfcinv(double x) {
    if (!(x >= 0.0 && x <= 2.0))
        return std::numeric_limits<double>::quiet_NaN();
    if (x == 0.0 || x == 2.0)
        return x == 0.0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    return x <= 1.0 ? cudla_sim::erfcinv_below(x) : -cudla_sim::erfcinv_below(2.0 - x);
}
inline double erfinv(double x) {
    double size = std::fabs(x);
    if (!(size < 0.5))
        return std::copysign(erfcinv(1.0 - size), x);
    double y = x / M_2_SQRTPI * (1.0 + M_PI / 12.0 * x * x);
    for (int i = 0; i < 3; i++) {
        double error = std::erf(y) - x;
        y -= error / (M_2_SQRTPI * std::exp(-y * y) + y * error);
    }
    return x == 0.0 ? x : y;
}
inline double erfcx(double x) {
    if (x > 25.0) { /* erfc has no bits left soon */
        double r = 1.0 / (2.0 * x * x);
        return M_2_SQRTPI / 2.0 / x * (1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r))));
    }
    double square = x * x, rest = std::fma(x, x, -square);
    return x < -26.7 ? std::numeric_limits<double>::infinity() : std::exp(square) * std::erfc(x) * (1.0 + rest);
}
inline double normcdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
inline double normcdfinv(double x) { return -M_SQRT2 * erfcinv(2.0 * x); }

inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
inline double norm4d(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
inline double norm(int count, const double *of) {
    double found = 0.0;
    for (int i = 0; i < count; i++)
        found = std::hypot(found, of[i]);
    return found;
}
inline double rnorm(int count, const double *of) { return 1.0 / norm(count, of); }
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
inline double cyl_bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }

#define CUDLA_SIM_SINGLE(name)                                                                                      \
    inline float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
CUDLA_SIM_SINGLE(erfcinv)
CUDLA_SIM_SINGLE(erfinv)
CUDLA_SIM_SINGLE(erfcx)
CUDLA_SIM_SINGLE(normcdf)
CUDLA_SIM_SINGLE(normcdfinv)
CUDLA_SIM_SINGLE(rcbrt)
CUDLA_SIM_SINGLE(cyl_bessel_i0)
CUDLA_SIM_SINGLE(cyl_bessel_i1)
#undef CUDLA_SIM_SINGLE
/* C++ has singles by the names of doubles, too (CUDA Math API). */
inline void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
inline void sincospi(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline float rhypotf(float x, float y) { return static_cast<float>(rhypot(x, y)); }
inline float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
inline float norm4df(float a, float b, float c, float d) { return static_cast<float>(norm4d(a, b, c, d)); }
inline float rnorm3df(float a, float b, float c) { return static_cast<float>(rnorm3d(a, b, c)); }
inline float rnorm4df(float a, float b, float c, float d) { return static_cast<float>(rnorm4d(a, b, c, d)); }
inline float normf(int count, const float *of) {
    double sum = 0.0; /* of squares of singles: no double overflows */
    for (int i = 0; i < count; i++)
        sum += static_cast<double>(of[i]) * static_cast<double>(of[i]);
    return static_cast<float>(std::sqrt(sum));
}
inline float rnormf(int count, const float *of) { return 1.0f / normf(count, of); }
inline float fdividef(float x, float y) { return x / y; }
inline float __fmaf_ieee_rn(float x, float y, float z) { return __fmaf_rn(x, y, z); }
inline float __fmaf_ieee_rz(float x, float y, float z) { return __fmaf_rz(x, y, z); }
inline float __fmaf_ieee_rd(float x, float y, float z) { return __fmaf_rd(x, y, z); }
inline float __fmaf_ieee_ru(float x, float y, float z) { return __fmaf_ru(x, y, z); }

#endif
