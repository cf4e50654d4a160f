/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_bf16.hpp - the rest of cuda_bf16.h, which includes it: pairs, comparisons of pairs, arithmetic that is held
 * within bounds, integers.
 */
#ifndef __CUDA_BF16_HPP__
#define __CUDA_BF16_HPP__

#if !defined(CUDLA_SIM_PARSE) && defined(__cplusplus)

#define CUDLA_SIM_BF16 static inline __attribute__((unused))

/* ---- Functions of pairs ------------------------------------------------------------------------ */

#define CUDLA_SIM_BF16_OF_PAIR(name, one)                                                                           \
    CUDLA_SIM_BF16 __nv_bfloat162 name(const __nv_bfloat162 a) { return __nv_bfloat162(one(a.x), one(a.y)); }
CUDLA_SIM_BF16_OF_PAIR(h2sqrt, hsqrt)
CUDLA_SIM_BF16_OF_PAIR(h2rsqrt, hrsqrt)
CUDLA_SIM_BF16_OF_PAIR(h2rcp, hrcp)
CUDLA_SIM_BF16_OF_PAIR(h2exp, hexp)
CUDLA_SIM_BF16_OF_PAIR(h2exp2, hexp2)
CUDLA_SIM_BF16_OF_PAIR(h2exp10, hexp10)
CUDLA_SIM_BF16_OF_PAIR(h2log, hlog)
CUDLA_SIM_BF16_OF_PAIR(h2log2, hlog2)
CUDLA_SIM_BF16_OF_PAIR(h2log10, hlog10)
CUDLA_SIM_BF16_OF_PAIR(h2sin, hsin)
CUDLA_SIM_BF16_OF_PAIR(h2cos, hcos)
CUDLA_SIM_BF16_OF_PAIR(h2tanh, htanh)
CUDLA_SIM_BF16_OF_PAIR(h2floor, hfloor)
CUDLA_SIM_BF16_OF_PAIR(h2ceil, hceil)
CUDLA_SIM_BF16_OF_PAIR(h2trunc, htrunc)
CUDLA_SIM_BF16_OF_PAIR(h2rint, hrint)
CUDLA_SIM_BF16_OF_PAIR(__habs2, __habs)
CUDLA_SIM_BF16_OF_PAIR(__hneg2, __hneg)
#undef CUDLA_SIM_BF16_OF_PAIR

/* ---- Arithmetic: without contraction, within 0 and 1, not below 0 ------------------------------- */

/* Pairs as complex numbers: a * b + c, the real parts first, a rounding for each step. */
CUDLA_SIM_BF16 __nv_bfloat162 __hcmadd(const __nv_bfloat162 a, const __nv_bfloat162 b, const __nv_bfloat162 c) {
    return __nv_bfloat162(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
                          __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
CUDLA_SIM_BF16 __nv_bfloat16 htanh_approx(const __nv_bfloat16 a) { return htanh(a); }
CUDLA_SIM_BF16 __nv_bfloat162 h2tanh_approx(const __nv_bfloat162 a) { return h2tanh(a); }
/* NaN is 0. */
CUDLA_SIM_BF16 __nv_bfloat16 cudla_sim_bf16_saturated(const __nv_bfloat16 a) {
    const float value = __bfloat162float(a);
    return __float2bfloat16(value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f);
}
#define CUDLA_SIM_BF16_ARITHMETIC(name)                                                                             \
    CUDLA_SIM_BF16 __nv_bfloat16 name##_rn(const __nv_bfloat16 a, const __nv_bfloat16 b) { return name(a, b); }     \
    CUDLA_SIM_BF16 __nv_bfloat16 name##_sat(const __nv_bfloat16 a, const __nv_bfloat16 b) {                         \
        return cudla_sim_bf16_saturated(name(a, b));                                                                \
    }                                                                                                               \
    CUDLA_SIM_BF16 __nv_bfloat162 name##2_rn(const __nv_bfloat162 a, const __nv_bfloat162 b) {                      \
        return __nv_bfloat162(name(a.x, b.x), name(a.y, b.y));                                                      \
    }                                                                                                               \
    CUDLA_SIM_BF16 __nv_bfloat162 name##2_sat(const __nv_bfloat162 a, const __nv_bfloat162 b) {                     \
        return __nv_bfloat162(name##_sat(a.x, b.x), name##_sat(a.y, b.y));                                          \
    }
CUDLA_SIM_BF16_ARITHMETIC(__hadd)
CUDLA_SIM_BF16_ARITHMETIC(__hsub)
CUDLA_SIM_BF16_ARITHMETIC(__hmul)
#undef CUDLA_SIM_BF16_ARITHMETIC
CUDLA_SIM_BF16 __nv_bfloat16 __hfma_sat(const __nv_bfloat16 a, const __nv_bfloat16 b, const __nv_bfloat16 c) {
    return cudla_sim_bf16_saturated(__hfma(a, b, c));
}
CUDLA_SIM_BF16 __nv_bfloat16 __hfma_relu(const __nv_bfloat16 a, const __nv_bfloat16 b, const __nv_bfloat16 c) {
    const __nv_bfloat16 result = __hfma(a, b, c);
    return __bfloat162float(result) < 0.0f ? __float2bfloat16(0.0f) : result;
}
CUDLA_SIM_BF16 __nv_bfloat162 __hfma2_sat(const __nv_bfloat162 a, const __nv_bfloat162 b, const __nv_bfloat162 c) {
    return __nv_bfloat162(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
CUDLA_SIM_BF16 __nv_bfloat162 __hfma2_relu(const __nv_bfloat162 a, const __nv_bfloat162 b, const __nv_bfloat162 c) {
    return __nv_bfloat162(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
/* As __hmax and __hmin, but NaN where one is. */
#define CUDLA_SIM_BF16_NAN(name)                                                                                    \
    CUDLA_SIM_BF16 __nv_bfloat16 name##_nan(const __nv_bfloat16 a, const __nv_bfloat16 b) {                         \
        return __hisnan(a) || __hisnan(b) ? __ushort_as_bfloat16(0x7fff) : name(a, b);                              \
    }                                                                                                               \
    CUDLA_SIM_BF16 __nv_bfloat162 name##2_nan(const __nv_bfloat162 a, const __nv_bfloat162 b) {                     \
        return __nv_bfloat162(name##_nan(a.x, b.x), name##_nan(a.y, b.y));                                          \
    }
CUDLA_SIM_BF16_NAN(__hmax)
CUDLA_SIM_BF16_NAN(__hmin)
#undef CUDLA_SIM_BF16_NAN

/* ---- Comparison of pairs: with a u, what cannot be ordered is true ------------------------------ */

CUDLA_SIM_BF16 bool __hneu(const __nv_bfloat16 a, const __nv_bfloat16 b) { return !__heq(a, b); }
#define CUDLA_SIM_BF16_COMPARISON(name, both, suffix)                                                               \
    CUDLA_SIM_BF16 __nv_bfloat162 name##suffix##2(const __nv_bfloat162 a, const __nv_bfloat162 b) {                 \
        return __floats2bfloat162_rn(name##suffix(a.x, b.x) ? 1.0f : 0.0f, name##suffix(a.y, b.y) ? 1.0f : 0.0f);   \
    }                                                                                                               \
    CUDLA_SIM_BF16 unsigned name##suffix##2_mask(const __nv_bfloat162 a, const __nv_bfloat162 b) {                  \
        return (name##suffix(a.x, b.x) ? 0xffffU : 0U) | (name##suffix(a.y, b.y) ? 0xffff0000U : 0U);               \
    }                                                                                                               \
    CUDLA_SIM_BF16 bool both##suffix##2(const __nv_bfloat162 a, const __nv_bfloat162 b) {                           \
        return name##suffix(a.x, b.x) && name##suffix(a.y, b.y);                                                    \
    }
#define CUDLA_SIM_BF16_COMPARISONS(name, both)                                                                      \
    CUDLA_SIM_BF16_COMPARISON(name, both, )                                                                         \
    CUDLA_SIM_BF16_COMPARISON(name, both, u)
CUDLA_SIM_BF16_COMPARISONS(__heq, __hbeq)
CUDLA_SIM_BF16_COMPARISONS(__hne, __hbne)
CUDLA_SIM_BF16_COMPARISONS(__hlt, __hblt)
CUDLA_SIM_BF16_COMPARISONS(__hle, __hble)
CUDLA_SIM_BF16_COMPARISONS(__hgt, __hbgt)
CUDLA_SIM_BF16_COMPARISONS(__hge, __hbge)
#undef CUDLA_SIM_BF16_COMPARISONS
#undef CUDLA_SIM_BF16_COMPARISON
CUDLA_SIM_BF16 __nv_bfloat162 __hisnan2(const __nv_bfloat162 a) {
    return __floats2bfloat162_rn(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}

/* ---- Integers: the nearest one that there is; NaN is 0 ------------------------------------------ */

CUDLA_SIM_HALVES_INTEGERS(__nv_bfloat16, bfloat16, __bfloat162float)

/* ---- Parts of pairs ------------------------------------------------------------------------------ */

CUDLA_SIM_BF16 __nv_bfloat162 __lowhigh2highlow(const __nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
CUDLA_SIM_BF16 __nv_bfloat162 __low2bfloat162(const __nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
CUDLA_SIM_BF16 __nv_bfloat162 __high2bfloat162(const __nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
CUDLA_SIM_BF16 __nv_bfloat162 __lows2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
    return __nv_bfloat162(a.x, b.x);
}
CUDLA_SIM_BF16 __nv_bfloat162 __highs2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
    return __nv_bfloat162(a.y, b.y);
}

#undef CUDLA_SIM_BF16

#if defined(CUDLA_SIM_KERNELS_H)
inline __nv_bfloat16 atomicAdd(__nv_bfloat16 *address, __nv_bfloat16 val) {
    return cudla_sim::changed(address, [&](__nv_bfloat16 old) { return __hadd(old, val); });
}
inline __nv_bfloat162 atomicAdd(__nv_bfloat162 *address, __nv_bfloat162 val) {
    return cudla_sim::changed(address, [&](__nv_bfloat162 old) { return __hadd2(old, val); });
}
#endif

#endif
#endif
