/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fp8.h - numbers of eight bits for C++: conversions.
 *
 * e4m3 has 4 exponent and 3 fraction bits, no infinity and one NaN besides its sign; e5m2 is the upper half of
 * a half. Conversions round to the nearest value, ties to even; __NV_SATFINITE turns what is too large into the
 * largest number, __NV_NOSAT into the infinity, or where there is none into the NaN. e8m0 is a scale: a power of
 * two from 2^-127 to 2^127, or the NaN 0xff.
 */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

/* Nothing here is exported; the generator of our bindings sees an empty header. */
#if !defined(CUDLA_SIM_PARSE)
#if defined(__cplusplus)

#include <math.h>

#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"
#include "vector_types.h"

#define __CUDA_FP8_TYPES_EXIST__
#define CUDLA_SIM_FP8 static inline __attribute__((unused))

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short int __nv_fp8x2_storage_t; /* the first number is the lower byte */
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/* ---- Bits ------------------------------------------------------------------------------------ */

/* What a kind has: bits of the fraction, exponent of the smallest normal number, and codes without a sign. */
struct cudla_sim_fp8_kind {
    int fraction, least;
    unsigned largest, too_large;
};
CUDLA_SIM_FP8 cudla_sim_fp8_kind cudla_sim_fp8_of(__nv_fp8_interpretation_t kind) {
    return kind == __NV_E4M3 ? cudla_sim_fp8_kind{3, -6, 0x7e, 0x7f} : cudla_sim_fp8_kind{2, -14, 0x7b, 0x7c};
}

/* The code of a size that is no NaN. Codes count the numbers up from 0, the infinity among them. */
CUDLA_SIM_FP8 unsigned cudla_sim_fp8_code(double size, __nv_saturation_t saturate, const cudla_sim_fp8_kind &kind) {
    if (size == 0.0) {
        return 0;
    }
    if (size <= 1e6) {
        int exponent;
        (void)frexp(size, &exponent);
        exponent = exponent - 1 > kind.least ? exponent - 1 : kind.least;
        const double steps = ldexp(size, kind.fraction - exponent);
        unsigned below = static_cast<unsigned>(steps);
        const double rest = steps - below;
        below += rest > 0.5 || (rest == 0.5 && (below & 1U));
        const unsigned code = (static_cast<unsigned>(exponent - kind.least) << kind.fraction) + below;
        if (code <= kind.largest) {
            return code;
        }
    }
    return saturate == __NV_SATFINITE ? kind.largest : kind.too_large;
}

CUDLA_SIM_FP8 __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                        const __nv_fp8_interpretation_t kind) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    unsigned code;
    if (x != x) { /* e5m2 keeps the first bits of a NaN, and makes it a quiet one */
        code = kind == __NV_E4M3 ? 0x7fU : 0x7eU | (static_cast<unsigned>(bits >> 50) & 3U);
    } else {
        code = cudla_sim_fp8_code(fabs(x), saturate, cudla_sim_fp8_of(kind));
    }
    return static_cast<__nv_fp8_storage_t>(code | (static_cast<unsigned>(bits >> 63) << 7));
}
CUDLA_SIM_FP8 __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t kind) {
    if (x != x) {
        return 0x7f; /* without its sign */
    }
    return __nv_cvt_double_to_fp8(static_cast<double>(x), saturate, kind);
}
CUDLA_SIM_FP8 __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                         const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__half2float(__half(x)), saturate, kind);
}
CUDLA_SIM_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x,
                                                             const __nv_saturation_t saturate,
                                                             const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(cudla_sim_bf16_value(x.x), saturate, kind);
}

CUDLA_SIM_FP8 __nv_fp8x2_storage_t cudla_sim_fp8_pair(unsigned low, unsigned high) {
    return static_cast<__nv_fp8x2_storage_t>(low | high << 8);
}
CUDLA_SIM_FP8 __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t saturate,
                                                             const __nv_fp8_interpretation_t kind) {
    return cudla_sim_fp8_pair(__nv_cvt_double_to_fp8(x.x, saturate, kind),
                              __nv_cvt_double_to_fp8(x.y, saturate, kind));
}
CUDLA_SIM_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                            const __nv_fp8_interpretation_t kind) {
    return cudla_sim_fp8_pair(__nv_cvt_float_to_fp8(x.x, saturate, kind),
                              __nv_cvt_float_to_fp8(x.y, saturate, kind));
}
CUDLA_SIM_FP8 __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
                                                              const __nv_fp8_interpretation_t kind) {
    __half_raw low, high;
    low.x = x.x;
    high.x = x.y;
    return cudla_sim_fp8_pair(__nv_cvt_halfraw_to_fp8(low, saturate, kind),
                              __nv_cvt_halfraw_to_fp8(high, saturate, kind));
}
CUDLA_SIM_FP8 __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                                  const __nv_saturation_t saturate,
                                                                  const __nv_fp8_interpretation_t kind) {
    __nv_bfloat16_raw low, high;
    low.x = x.x;
    high.x = x.y;
    return cudla_sim_fp8_pair(__nv_cvt_bfloat16raw_to_fp8(low, saturate, kind),
                              __nv_cvt_bfloat16raw_to_fp8(high, saturate, kind));
}

/* Every number of eight bits is a half; every NaN becomes 0x7fff. */
CUDLA_SIM_FP8 __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind) {
    const unsigned size = x & 0x7fU;
    __half_raw half;
    if (kind == __NV_E5M2) {
        half.x = size > 0x7cU ? 0x7fffU : static_cast<unsigned short>(x << 8);
    } else if (size == 0x7fU) {
        half.x = 0x7fff;
    } else { /* the exponent of a half is 8 larger */
        const float value = size < 8 ? ldexpf(static_cast<float>(size), -9)
                                     : ldexpf(static_cast<float>(8 + (size & 7U)), static_cast<int>(size >> 3) - 10);
        half = __half_raw(__float2half(x & 0x80U ? -value : value));
    }
    return half;
}
CUDLA_SIM_FP8 __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
                                                     const __nv_fp8_interpretation_t kind) {
    __half2_raw pair;
    pair.x = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), kind).x;
    pair.y = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), kind).x;
    return pair;
}

/* The power of two next to the size of a number, towards 0 (cudaRoundZero) or away from it (cudaRoundPosInf). */
CUDLA_SIM_FP8 __nv_fp8_storage_t __nv_cvt_double_to_e8m0(const double x, const __nv_saturation_t saturate,
                                                         const enum cudaRoundMode rounding) {
    if (x != x) {
        return 0xff;
    }
    int exponent = 128;
    if (x == 0.0) {
        exponent = -127;
    } else if (fabs(x) <= 1.7976931348623157e308) {
        const double fraction = frexp(fabs(x), &exponent); /* from 0.5 to below 1 */
        exponent -= fraction == 0.5 || rounding == cudaRoundZero;
        if (rounding == cudaRoundZero && exponent > 127) {
            exponent = 127; /* towards 0 from what a float does not hold */
        }
    }
    if (exponent > 127) {
        return saturate == __NV_SATFINITE ? 0xfe : 0xff;
    }
    return static_cast<__nv_fp8_storage_t>(exponent < -127 ? 0 : exponent + 127);
}
CUDLA_SIM_FP8 __nv_fp8_storage_t __nv_cvt_float_to_e8m0(const float x, const __nv_saturation_t saturate,
                                                        const enum cudaRoundMode rounding) {
    return __nv_cvt_double_to_e8m0(static_cast<double>(x), saturate, rounding);
}
CUDLA_SIM_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(const __nv_bfloat16_raw x,
                                                              const __nv_saturation_t saturate,
                                                              const enum cudaRoundMode rounding) {
    return __nv_cvt_float_to_e8m0(cudla_sim_bf16_value(x.x), saturate, rounding);
}
CUDLA_SIM_FP8 __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(const double2 x, const __nv_saturation_t saturate,
                                                              const enum cudaRoundMode rounding) {
    return cudla_sim_fp8_pair(__nv_cvt_double_to_e8m0(x.x, saturate, rounding),
                              __nv_cvt_double_to_e8m0(x.y, saturate, rounding));
}
CUDLA_SIM_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(const float2 x, const __nv_saturation_t saturate,
                                                             const enum cudaRoundMode rounding) {
    return cudla_sim_fp8_pair(__nv_cvt_float_to_e8m0(x.x, saturate, rounding),
                              __nv_cvt_float_to_e8m0(x.y, saturate, rounding));
}
CUDLA_SIM_FP8 __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(const __nv_bfloat162_raw x,
                                                                   const __nv_saturation_t saturate,
                                                                   const enum cudaRoundMode rounding) {
    const float2 pair = {cudla_sim_bf16_value(x.x), cudla_sim_bf16_value(x.y)};
    return __nv_cvt_float2_to_e8m0x2(pair, saturate, rounding);
}
/* 2^-127 is below the normal numbers of bfloat16. */
CUDLA_SIM_FP8 __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t x) {
    __nv_bfloat16_raw bits;
    bits.x = x == 0xffU ? 0x7fffU : x == 0 ? 0x40U : static_cast<unsigned short>(x << 7);
    return bits;
}
CUDLA_SIM_FP8 __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t x) {
    __nv_bfloat162_raw pair;
    pair.x = __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x)).x;
    pair.y = __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x >> 8)).x;
    return pair;
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* One number. From wider ones it is made with __NV_SATFINITE. */
template <__nv_fp8_interpretation_t kind> struct cudla_sim_fp8 {
    __nv_fp8_storage_t __x;

    cudla_sim_fp8() = default;
    explicit cudla_sim_fp8(const __half f)
        : __x(__nv_cvt_halfraw_to_fp8(static_cast<__half_raw>(f), __NV_SATFINITE, kind)) {}
    explicit cudla_sim_fp8(const __nv_bfloat16 f)
        : __x(__nv_cvt_bfloat16raw_to_fp8(static_cast<__nv_bfloat16_raw>(f), __NV_SATFINITE, kind)) {}
    explicit cudla_sim_fp8(const float f) : __x(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, kind)) {}
    explicit cudla_sim_fp8(const double f) : __x(__nv_cvt_double_to_fp8(f, __NV_SATFINITE, kind)) {}
    template <class I, typename std::enable_if<std::is_integral<I>::value, int>::type = 0>
    explicit cudla_sim_fp8(const I value) : cudla_sim_fp8(static_cast<float>(value)) {}

    explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }
    explicit operator float() const { return __half2float(static_cast<__half>(*this)); }
    explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
    explicit operator __nv_bfloat16() const { return __float2bfloat16(static_cast<float>(*this)); }
    explicit operator bool() const { return (__x & 0x7fU) != 0; }
    /* Cut towards 0; what does not fit becomes the nearest that does, a NaN 0. */
    template <class I,
              typename std::enable_if<std::is_integral<I>::value && !std::is_same<I, bool>::value, int>::type = 0>
    explicit operator I() const {
        return cudla_sim_half_to_integer<I>(trunc(static_cast<double>(static_cast<float>(*this))));
    }
};

template <__nv_fp8_interpretation_t kind> struct __attribute__((aligned(2))) cudla_sim_fp8x2 {
    __nv_fp8x2_storage_t __x;

    cudla_sim_fp8x2() = default;
    explicit cudla_sim_fp8x2(const __half2 f)
        : __x(__nv_cvt_halfraw2_to_fp8x2(static_cast<__half2_raw>(f), __NV_SATFINITE, kind)) {}
    explicit cudla_sim_fp8x2(const __nv_bfloat162 f)
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(static_cast<__nv_bfloat162_raw>(f), __NV_SATFINITE, kind)) {}
    explicit cudla_sim_fp8x2(const float2 f) : __x(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, kind)) {}
    explicit cudla_sim_fp8x2(const double2 f) : __x(__nv_cvt_double2_to_fp8x2(f, __NV_SATFINITE, kind)) {}

    explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }
    explicit operator float2() const { return __half22float2(static_cast<__half2>(*this)); }
};

template <__nv_fp8_interpretation_t kind> struct __attribute__((aligned(4))) cudla_sim_fp8x4 {
    __nv_fp8x4_storage_t __x;

    cudla_sim_fp8x4() = default;
    explicit cudla_sim_fp8x4(const __half2 low, const __half2 high) : __x(of(low, high)) {}
    explicit cudla_sim_fp8x4(const __nv_bfloat162 low, const __nv_bfloat162 high) : __x(of(low, high)) {}
    explicit cudla_sim_fp8x4(const float4 f) : __x(of(float2{f.x, f.y}, float2{f.z, f.w})) {}
    explicit cudla_sim_fp8x4(const double4 f) : __x(of(double2{f.x, f.y}, double2{f.z, f.w})) {}

    explicit operator float4() const {
        cudla_sim_fp8x2<kind> low, high;
        low.__x = static_cast<__nv_fp8x2_storage_t>(__x);
        high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);
        const float2 a = static_cast<float2>(low), b = static_cast<float2>(high);
        return float4{a.x, a.y, b.x, b.y};
    }

  private:
    template <class P> static __nv_fp8x4_storage_t of(const P &low, const P &high) {
        return cudla_sim_fp8x2<kind>(low).__x | static_cast<unsigned>(cudla_sim_fp8x2<kind>(high).__x) << 16;
    }
};

#define CUDLA_SIM_FP8_TYPE(name, base, kind)                                                                        \
    struct name : base<kind> {                                                                                      \
        using base<kind>::base;                                                                                     \
        name() = default;                                                                                           \
    };
CUDLA_SIM_FP8_TYPE(__nv_fp8_e5m2, cudla_sim_fp8, __NV_E5M2)
CUDLA_SIM_FP8_TYPE(__nv_fp8_e4m3, cudla_sim_fp8, __NV_E4M3)
CUDLA_SIM_FP8_TYPE(__nv_fp8x2_e5m2, cudla_sim_fp8x2, __NV_E5M2)
CUDLA_SIM_FP8_TYPE(__nv_fp8x2_e4m3, cudla_sim_fp8x2, __NV_E4M3)
CUDLA_SIM_FP8_TYPE(__nv_fp8x4_e5m2, cudla_sim_fp8x4, __NV_E5M2)
CUDLA_SIM_FP8_TYPE(__nv_fp8x4_e4m3, cudla_sim_fp8x4, __NV_E4M3)
#undef CUDLA_SIM_FP8_TYPE

/* Scales. From other numbers they are made away from 0, with __NV_SATFINITE. */
struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;

    __nv_fp8_e8m0() = default;
    explicit __nv_fp8_e8m0(const double f) : __x(__nv_cvt_double_to_e8m0(f, __NV_SATFINITE, cudaRoundPosInf)) {}
    explicit __nv_fp8_e8m0(const float f) : __nv_fp8_e8m0(static_cast<double>(f)) {}
    explicit __nv_fp8_e8m0(const __half f) : __nv_fp8_e8m0(__half2float(f)) {}
    explicit __nv_fp8_e8m0(const __nv_bfloat16 f) : __nv_fp8_e8m0(__bfloat162float(f)) {}
    template <class I, typename std::enable_if<std::is_integral<I>::value, int>::type = 0>
    explicit __nv_fp8_e8m0(const I value) : __x(of(value < 0 ? 0 - static_cast<uint64_t>(value) : value)) {}

    explicit operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
    explicit operator float() const { return cudla_sim_bf16_value(__nv_cvt_e8m0_to_bf16raw(__x).x); }
    explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
    explicit operator __half() const { return __float2half(static_cast<float>(*this)); }
    explicit operator bool() const { return true; } /* none of them is 0 */
    template <class I,
              typename std::enable_if<std::is_integral<I>::value && !std::is_same<I, bool>::value, int>::type = 0>
    explicit operator I() const {
        return cudla_sim_half_to_integer<I>(trunc(static_cast<double>(*this)));
    }

  private:
    /* A double does not hold each number of 64 bits. */
    static __nv_fp8_storage_t of(uint64_t size) {
        const int below = size ? 63 - __builtin_clzll(size) : -127;
        return static_cast<__nv_fp8_storage_t>(below + 127 + (size && (size & (size - 1))));
    }
};
struct __attribute__((aligned(2))) __nv_fp8x2_e8m0 {
    __nv_fp8x2_storage_t __x;

    __nv_fp8x2_e8m0() = default;
    explicit __nv_fp8x2_e8m0(const double2 f)
        : __x(__nv_cvt_double2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundPosInf)) {}
    explicit __nv_fp8x2_e8m0(const float2 f) : __x(__nv_cvt_float2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundPosInf)) {}
    explicit __nv_fp8x2_e8m0(const __half2 f) : __nv_fp8x2_e8m0(__half22float2(f)) {}
    explicit __nv_fp8x2_e8m0(const __nv_bfloat162 f) : __nv_fp8x2_e8m0(__bfloat1622float2(f)) {}

    explicit operator __nv_bfloat162() const { return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x)); }
    explicit operator float2() const { return __bfloat1622float2(static_cast<__nv_bfloat162>(*this)); }
};
struct __attribute__((aligned(4))) __nv_fp8x4_e8m0 {
    __nv_fp8x4_storage_t __x;

    __nv_fp8x4_e8m0() = default;
    explicit __nv_fp8x4_e8m0(const __half2 low, const __half2 high) : __x(of(low, high)) {}
    explicit __nv_fp8x4_e8m0(const __nv_bfloat162 low, const __nv_bfloat162 high) : __x(of(low, high)) {}
    explicit __nv_fp8x4_e8m0(const float4 f) : __x(of(float2{f.x, f.y}, float2{f.z, f.w})) {}
    explicit __nv_fp8x4_e8m0(const double4 f) : __x(of(double2{f.x, f.y}, double2{f.z, f.w})) {}

    explicit operator float4() const {
        __nv_fp8x2_e8m0 low, high;
        low.__x = static_cast<__nv_fp8x2_storage_t>(__x);
        high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);
        const float2 a = static_cast<float2>(low), b = static_cast<float2>(high);
        return float4{a.x, a.y, b.x, b.y};
    }

  private:
    template <class P> static __nv_fp8x4_storage_t of(const P &low, const P &high) {
        return __nv_fp8x2_e8m0(low).__x | static_cast<unsigned>(__nv_fp8x2_e8m0(high).__x) << 16;
    }
};
#undef CUDLA_SIM_FP8

#endif /* __cplusplus */
#endif /* !CUDLA_SIM_PARSE */
#endif
