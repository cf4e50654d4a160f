/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fp16.hpp - the rest of half precision, for C++: functions, comparisons of pairs, conversions with a
 * direction. Included by cuda_fp16.h.
 *
 * Functions are computed in float, or double where that is cheap, and rounded once more: the nearest
 * half in all but a few cases of exp, log and the circular functions (CUDA Math API, "Half Math Functions").
 */
#ifndef __CUDA_FP16_HPP__
#define __CUDA_FP16_HPP__

#include <math.h>

#include "cuda_halves_integers.hpp"

#define CUDLA_SIM_HALVES static inline __attribute__((unused))

/* ---- Functions ------------------------------------------------------------------------------ */

#define CUDLA_SIM_HALF_FUNCTION(name, expression)                                                  \
    CUDLA_SIM_HALVES __half h##name(const __half a) {                                              \
        const double x = __half2float(a);                                                          \
        return __double2half(expression);                                                          \
    }                                                                                              \
    CUDLA_SIM_HALVES __half2 h2##name(const __half2 a) {                                           \
        return __halves2half2(h##name(a.x), h##name(a.y));                                         \
    }
CUDLA_SIM_HALF_FUNCTION(sqrt, sqrt(x))
CUDLA_SIM_HALF_FUNCTION(rsqrt, 1 / sqrt(x))
CUDLA_SIM_HALF_FUNCTION(rcp, 1 / x)
CUDLA_SIM_HALF_FUNCTION(exp, exp(x))
CUDLA_SIM_HALF_FUNCTION(exp2, exp2(x))
CUDLA_SIM_HALF_FUNCTION(exp10, pow(10.0, x))
CUDLA_SIM_HALF_FUNCTION(log, log(x))
CUDLA_SIM_HALF_FUNCTION(log2, log2(x))
CUDLA_SIM_HALF_FUNCTION(log10, log10(x))
CUDLA_SIM_HALF_FUNCTION(sin, sin(x))
CUDLA_SIM_HALF_FUNCTION(cos, cos(x))
CUDLA_SIM_HALF_FUNCTION(tanh, tanh(x))
CUDLA_SIM_HALF_FUNCTION(floor, floor(x))
CUDLA_SIM_HALF_FUNCTION(ceil, ceil(x))
CUDLA_SIM_HALF_FUNCTION(trunc, trunc(x))
CUDLA_SIM_HALF_FUNCTION(rint, nearbyint(x))
#undef CUDLA_SIM_HALF_FUNCTION
CUDLA_SIM_HALVES __half htanh_approx(const __half a) { return htanh(a); }
CUDLA_SIM_HALVES __half2 h2tanh_approx(const __half2 a) { return h2tanh(a); }

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* Pairs as complex numbers: a * b + c, the real parts first, a rounding for each step. */
CUDLA_SIM_HALVES __half2 __hcmadd(const __half2 a, const __half2 b, const __half2 c) {
    return __halves2half2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
CUDLA_SIM_HALVES __half2 __hisnan2(const __half2 a) {
    return __floats2half2_rn(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}

/* ---- Arithmetic: without contraction, within 0 and 1, not below 0 ----------------------------- */

/* NaN is 0. */
CUDLA_SIM_HALVES __half cudla_sim_half_saturated(const __half a) {
    const float value = __half2float(a);
    return __float2half(value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f);
}
CUDLA_SIM_HALVES __half __hadd_rn(const __half a, const __half b) { return __hadd(a, b); }
CUDLA_SIM_HALVES __half __hsub_rn(const __half a, const __half b) { return __hsub(a, b); }
CUDLA_SIM_HALVES __half __hmul_rn(const __half a, const __half b) { return __hmul(a, b); }
CUDLA_SIM_HALVES __half __hadd_sat(const __half a, const __half b) {
    return cudla_sim_half_saturated(__hadd(a, b));
}
CUDLA_SIM_HALVES __half __hsub_sat(const __half a, const __half b) {
    return cudla_sim_half_saturated(__hsub(a, b));
}
CUDLA_SIM_HALVES __half __hmul_sat(const __half a, const __half b) {
    return cudla_sim_half_saturated(__hmul(a, b));
}
CUDLA_SIM_HALVES __half __hfma_sat(const __half a, const __half b, const __half c) {
    return cudla_sim_half_saturated(__hfma(a, b, c));
}
CUDLA_SIM_HALVES __half __hfma_relu(const __half a, const __half b, const __half c) {
    const __half result = __hfma(a, b, c);
    return __half2float(result) < 0.0f ? __float2half(0.0f) : result;
}
/* As __hmax and __hmin, but NaN where one is. */
CUDLA_SIM_HALVES __half __hmax_nan(const __half a, const __half b) {
    return __hisnan(a) || __hisnan(b) ? __ushort_as_half(0x7fff) : __hmax(a, b);
}
CUDLA_SIM_HALVES __half __hmin_nan(const __half a, const __half b) {
    return __hisnan(a) || __hisnan(b) ? __ushort_as_half(0x7fff) : __hmin(a, b);
}

#define CUDLA_SIM_HALF_PAIR(name, one)                                                             \
    CUDLA_SIM_HALVES __half2 name(const __half2 a, const __half2 b) {                              \
        return __halves2half2(one(a.x, b.x), one(a.y, b.y));                                       \
    }
CUDLA_SIM_HALF_PAIR(__hadd2_rn, __hadd)
CUDLA_SIM_HALF_PAIR(__hsub2_rn, __hsub)
CUDLA_SIM_HALF_PAIR(__hmul2_rn, __hmul)
CUDLA_SIM_HALF_PAIR(__hadd2_sat, __hadd_sat)
CUDLA_SIM_HALF_PAIR(__hsub2_sat, __hsub_sat)
CUDLA_SIM_HALF_PAIR(__hmul2_sat, __hmul_sat)
CUDLA_SIM_HALF_PAIR(__hmax2, __hmax)
CUDLA_SIM_HALF_PAIR(__hmin2, __hmin)
CUDLA_SIM_HALF_PAIR(__hmax2_nan, __hmax_nan)
CUDLA_SIM_HALF_PAIR(__hmin2_nan, __hmin_nan)
#undef CUDLA_SIM_HALF_PAIR
CUDLA_SIM_HALVES __half2 __hfma2_sat(const __half2 a, const __half2 b, const __half2 c) {
    return __halves2half2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
CUDLA_SIM_HALVES __half2 __hfma2_relu(const __half2 a, const __half2 b, const __half2 c) {
    return __halves2half2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
CUDLA_SIM_HALVES __half2 __habs2(const __half2 a) { return __halves2half2(__habs(a.x), __habs(a.y)); }

/* ---- Comparison: with a u, what cannot be ordered is true -------------------------------------- */

#define CUDLA_SIM_HALF_COMPARISON(name)                                                            \
    CUDLA_SIM_HALVES bool name##u(const __half a, const __half b) {                                \
        return __hisnan(a) || __hisnan(b) || name(a, b);                                           \
    }                                                                                              \
    CUDLA_SIM_HALVES __half2 name##2(const __half2 a, const __half2 b) {                           \
        return __floats2half2_rn(name(a.x, b.x) ? 1.0f : 0.0f, name(a.y, b.y) ? 1.0f : 0.0f);      \
    }                                                                                              \
    CUDLA_SIM_HALVES __half2 name##u2(const __half2 a, const __half2 b) {                          \
        return __floats2half2_rn(name##u(a.x, b.x) ? 1.0f : 0.0f, name##u(a.y, b.y) ? 1.0f : 0.0f);\
    }                                                                                              \
    CUDLA_SIM_HALVES unsigned name##2_mask(const __half2 a, const __half2 b) {                     \
        return (name(a.x, b.x) ? 0xffffU : 0U) | (name(a.y, b.y) ? 0xffff0000U : 0U);              \
    }                                                                                              \
    CUDLA_SIM_HALVES unsigned name##u2_mask(const __half2 a, const __half2 b) {                    \
        return (name##u(a.x, b.x) ? 0xffffU : 0U) | (name##u(a.y, b.y) ? 0xffff0000U : 0U);        \
    }
CUDLA_SIM_HALF_COMPARISON(__heq)
CUDLA_SIM_HALF_COMPARISON(__hne)
CUDLA_SIM_HALF_COMPARISON(__hlt)
CUDLA_SIM_HALF_COMPARISON(__hle)
CUDLA_SIM_HALF_COMPARISON(__hgt)
CUDLA_SIM_HALF_COMPARISON(__hge)
#undef CUDLA_SIM_HALF_COMPARISON
#define CUDLA_SIM_HALF_BOTH(name, one)                                                             \
    CUDLA_SIM_HALVES bool name(const __half2 a, const __half2 b) { return one(a.x, b.x) && one(a.y, b.y); }
CUDLA_SIM_HALF_BOTH(__hbeq2, __heq)
CUDLA_SIM_HALF_BOTH(__hbequ2, __hequ)
CUDLA_SIM_HALF_BOTH(__hbne2, __hne)
CUDLA_SIM_HALF_BOTH(__hbneu2, __hneu)
CUDLA_SIM_HALF_BOTH(__hblt2, __hlt)
CUDLA_SIM_HALF_BOTH(__hbltu2, __hltu)
CUDLA_SIM_HALF_BOTH(__hble2, __hle)
CUDLA_SIM_HALF_BOTH(__hbleu2, __hleu)
CUDLA_SIM_HALF_BOTH(__hbgt2, __hgt)
CUDLA_SIM_HALF_BOTH(__hbgtu2, __hgtu)
CUDLA_SIM_HALF_BOTH(__hbge2, __hge)
CUDLA_SIM_HALF_BOTH(__hbgeu2, __hgeu)
#undef CUDLA_SIM_HALF_BOTH

/* ---- Conversions ---------------------------------------------------------------------------- */

CUDLA_SIM_HALVES __half __float2half_rd(const float a) {
    const __half near = __float2half(a);
    return __half2float(near) > a ? __ushort_as_half(cudla_sim_half_step(__half_as_ushort(near), false)) : near;
}
CUDLA_SIM_HALVES __half __float2half_ru(const float a) {
    const __half near = __float2half(a);
    return __half2float(near) < a ? __ushort_as_half(cudla_sim_half_step(__half_as_ushort(near), true)) : near;
}
CUDLA_SIM_HALVES __half __float2half_rz(const float a) {
    return a < 0.0f ? __float2half_ru(a) : __float2half_rd(a);
}
CUDLA_SIM_HALVES_INTEGERS(__half, half, __half2float)

CUDLA_SIM_HALVES __half2 __low2half2(const __half2 a) { return __halves2half2(a.x, a.x); }
CUDLA_SIM_HALVES __half2 __high2half2(const __half2 a) { return __halves2half2(a.y, a.y); }
CUDLA_SIM_HALVES __half2 __lows2half2(const __half2 a, const __half2 b) { return __halves2half2(a.x, b.x); }
CUDLA_SIM_HALVES __half2 __highs2half2(const __half2 a, const __half2 b) { return __halves2half2(a.y, b.y); }
CUDLA_SIM_HALVES __half2 __lowhigh2half2(const __half2 a) { return a; }

#undef CUDLA_SIM_HALVES

#endif /* __CUDA_FP16_HPP__ */
