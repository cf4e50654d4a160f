/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_bf16.h - bfloat16 for C++: conversions, arithmetic, comparison, functions.
 *
 * A bfloat16 is the upper half of a float: a sign, 8 exponent bits and 7 fraction bits. Conversions round to
 * the nearest value, ties to even; every NaN becomes 0x7fff. Sums are computed in float, products and quotients
 * in double, for those of float may be denormal, and rounded once more, which gives the nearest one.
 */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

/* Nothing here is exported; the generator of our bindings sees an empty header. */
#if !defined(CUDLA_SIM_PARSE)
#if defined(__cplusplus)

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cuda_fp16.h"

#define __CUDA_BF16_TYPES_EXIST__
#define CUDLA_SIM_BF16 static inline __attribute__((unused))

/* ---- Bits and types ------------------------------------------------------------------------- */

CUDLA_SIM_BF16 unsigned short cudla_sim_bf16_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return 0x7fff;
    }
    return static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
CUDLA_SIM_BF16 float cudla_sim_bf16_value(unsigned short half_of_float) {
    const uint32_t bits = static_cast<uint32_t>(half_of_float) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
/* A double goes through a float that is odd where it is not exact, so that only the second rounding counts. */
CUDLA_SIM_BF16 float cudla_sim_bf16_odd(double value) {
    float near = static_cast<float>(value);
    const double error = value - static_cast<double>(near);
    uint32_t bits;
    memcpy(&bits, &near, sizeof bits);
    if (error != 0.0 && error == error && (bits & 1U) == 0 && (bits & 0x7f800000U) != 0x7f800000U) {
        if (near == 0.0f) {
            bits = (value < 0.0 ? 0x80000000U : 0U) | 1U;
        } else {
            bits += (error > 0.0) == (near > 0.0f) ? 1U : static_cast<uint32_t>(-1);
        }
        memcpy(&near, &bits, sizeof near);
    }
    return near;
}

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct __attribute__((aligned(4))) {
    unsigned short x;
    unsigned short y;
} __nv_bfloat162_raw;

struct __attribute__((aligned(2), may_alias)) __nv_bfloat16 {
  protected:
    unsigned short __x;

  public:
    __nv_bfloat16() = default;
    constexpr __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
    __nv_bfloat16(float v) : __x(cudla_sim_bf16_bits(v)) {}
    __nv_bfloat16(double v) : __x(cudla_sim_bf16_bits(cudla_sim_bf16_odd(v))) {}
    __nv_bfloat16(short v) : __x(cudla_sim_bf16_bits(v)) {}
    __nv_bfloat16(unsigned short v) : __x(cudla_sim_bf16_bits(v)) {}
    __nv_bfloat16(int v) : __x(cudla_sim_bf16_bits(cudla_sim_bf16_odd(v))) {}
    __nv_bfloat16(unsigned int v) : __x(cudla_sim_bf16_bits(cudla_sim_bf16_odd(v))) {}
    __nv_bfloat16(long v) : __nv_bfloat16(cudla_sim_odd_number(v)) {}
    __nv_bfloat16(unsigned long v) : __nv_bfloat16(cudla_sim_odd_number(v)) {}
    __nv_bfloat16(long long v) : __nv_bfloat16(cudla_sim_odd_number(v)) {}
    __nv_bfloat16(unsigned long long v) : __nv_bfloat16(cudla_sim_odd_number(v)) {}

    __nv_bfloat16 &operator=(const __nv_bfloat16_raw &raw) {
        __x = raw.x;
        return *this;
    }
    __nv_bfloat16 &operator=(float v) { return *this = __nv_bfloat16(v); }
    __nv_bfloat16 &operator=(double v) { return *this = __nv_bfloat16(v); }
    __nv_bfloat16 &operator=(short v) { return *this = __nv_bfloat16(v); }
    __nv_bfloat16 &operator=(unsigned short v) { return *this = __nv_bfloat16(v); }
    __nv_bfloat16 &operator=(int v) { return *this = __nv_bfloat16(v); }
    __nv_bfloat16 &operator=(unsigned int v) { return *this = __nv_bfloat16(v); }
    __nv_bfloat16 &operator=(long long v) { return *this = __nv_bfloat16(v); }
    __nv_bfloat16 &operator=(unsigned long long v) { return *this = __nv_bfloat16(v); }

    operator __nv_bfloat16_raw() const {
        __nv_bfloat16_raw raw;
        raw.x = __x;
        return raw;
    }
    operator float() const { return cudla_sim_bf16_value(__x); }
};

template <> struct cudla_sim_pair_of<__nv_bfloat162_raw, struct __nv_bfloat162> {
    typedef __nv_bfloat162 type;
};

struct __attribute__((aligned(4), may_alias)) __nv_bfloat162 {
    __nv_bfloat16 x;
    __nv_bfloat16 y;

    __nv_bfloat162() = default;
    __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
    constexpr __nv_bfloat162(const __nv_bfloat162_raw &raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
    /* Of that type only: `x = {}` and `x = {a, b}` are pairs. */
    template <class Raw> typename cudla_sim_pair_of<Raw, __nv_bfloat162>::type &operator=(const Raw &raw) {
        return *this = __nv_bfloat162(raw);
    }
    operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{__nv_bfloat16_raw(x).x, __nv_bfloat16_raw(y).x}; }
};

/* ---- Conversions ---------------------------------------------------------------------------- */

CUDLA_SIM_BF16 unsigned short __bfloat16_as_ushort(const __nv_bfloat16 h) { return __nv_bfloat16_raw(h).x; }
CUDLA_SIM_BF16 short __bfloat16_as_short(const __nv_bfloat16 h) {
    return static_cast<short>(__bfloat16_as_ushort(h));
}
CUDLA_SIM_BF16 __nv_bfloat16 __ushort_as_bfloat16(const unsigned short bits) {
    __nv_bfloat16_raw raw;
    raw.x = bits;
    return __nv_bfloat16(raw);
}
CUDLA_SIM_BF16 __nv_bfloat16 __short_as_bfloat16(const short bits) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}
CUDLA_SIM_BF16 float __bfloat162float(const __nv_bfloat16 a) { return a; }
CUDLA_SIM_BF16 __nv_bfloat16 __float2bfloat16(const float a) { return __nv_bfloat16(a); }
CUDLA_SIM_BF16 __nv_bfloat16 __float2bfloat16_rn(const float a) { return __nv_bfloat16(a); }
CUDLA_SIM_BF16 __nv_bfloat16 __double2bfloat16(const double a) { return __nv_bfloat16(a); }
CUDLA_SIM_BF16 __nv_bfloat16 __float2bfloat16_rz(const float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return a != a ? __ushort_as_bfloat16(0x7fff)
                  : __ushort_as_bfloat16(static_cast<unsigned short>(bits >> 16));
}

CUDLA_SIM_BF16 __nv_bfloat16 __float2bfloat16_rd(const float a) {
    const __nv_bfloat16 near = a;
    return __bfloat162float(near) > a ? __ushort_as_bfloat16(cudla_sim_half_step(__bfloat16_as_ushort(near), false)) : near;
}
CUDLA_SIM_BF16 __nv_bfloat16 __float2bfloat16_ru(const float a) {
    const __nv_bfloat16 near = a;
    return __bfloat162float(near) < a ? __ushort_as_bfloat16(cudla_sim_half_step(__bfloat16_as_ushort(near), true)) : near;
}

CUDLA_SIM_BF16 __nv_bfloat162 __halves2bfloat162(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
CUDLA_SIM_BF16 __nv_bfloat162 make_bfloat162(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
CUDLA_SIM_BF16 __nv_bfloat162 __floats2bfloat162_rn(const float a, const float b) {
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
CUDLA_SIM_BF16 __nv_bfloat162 __float2bfloat162_rn(const float a) { return __floats2bfloat162_rn(a, a); }
CUDLA_SIM_BF16 __nv_bfloat162 __float22bfloat162_rn(const float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
CUDLA_SIM_BF16 float2 __bfloat1622float2(const __nv_bfloat162 a) {
    float2 pair;
    pair.x = a.x;
    pair.y = a.y;
    return pair;
}
CUDLA_SIM_BF16 __nv_bfloat162 __bfloat162bfloat162(const __nv_bfloat16 a) { return __nv_bfloat162(a, a); }
CUDLA_SIM_BF16 __nv_bfloat16 __low2bfloat16(const __nv_bfloat162 a) { return a.x; }
CUDLA_SIM_BF16 __nv_bfloat16 __high2bfloat16(const __nv_bfloat162 a) { return a.y; }
CUDLA_SIM_BF16 float __low2float(const __nv_bfloat162 a) { return a.x; }
CUDLA_SIM_BF16 float __high2float(const __nv_bfloat162 a) { return a.y; }

/* ---- Arithmetic and comparison --------------------------------------------------------------- */

#define CUDLA_SIM_BF16_TWO(name, sign, in)                                                         \
    CUDLA_SIM_BF16 __nv_bfloat16 name(const __nv_bfloat16 a, const __nv_bfloat16 b) {              \
        return __nv_bfloat16(static_cast<in>(__bfloat162float(a)) sign __bfloat162float(b));       \
    }
CUDLA_SIM_BF16_TWO(__hadd, +, float)
CUDLA_SIM_BF16_TWO(__hsub, -, float)
CUDLA_SIM_BF16_TWO(__hmul, *, double)
CUDLA_SIM_BF16_TWO(__hdiv, /, double)
#undef CUDLA_SIM_BF16_TWO
/* One rounding: what the sum leaves out makes it odd. */
CUDLA_SIM_BF16 __nv_bfloat16 __hfma(const __nv_bfloat16 a, const __nv_bfloat16 b, const __nv_bfloat16 c) {
    const double product = static_cast<double>(__bfloat162float(a)) * static_cast<double>(__bfloat162float(b));
    const double addend = __bfloat162float(c);
    double sum = product + addend;
    const double part = sum - product, error = (product - (sum - part)) + (addend - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0.0 && error == error && (bits & 1U) == 0) {
        bits += (error > 0.0) == (sum > 0.0) ? 1U : static_cast<uint64_t>(-1);
        memcpy(&sum, &bits, sizeof sum);
    }
    return __double2bfloat16(sum);
}
CUDLA_SIM_BF16 __nv_bfloat16 __hneg(const __nv_bfloat16 a) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(__bfloat16_as_ushort(a) ^ 0x8000U));
}
CUDLA_SIM_BF16 __nv_bfloat16 __habs(const __nv_bfloat16 a) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(__bfloat16_as_ushort(a) & 0x7fffU));
}
CUDLA_SIM_BF16 bool __hisnan(const __nv_bfloat16 a) { return (__bfloat16_as_ushort(a) & 0x7fffU) > 0x7f80U; }
CUDLA_SIM_BF16 int __hisinf(const __nv_bfloat16 a) {
    const unsigned short bits = __bfloat16_as_ushort(a);
    return (bits & 0x7fffU) != 0x7f80U ? 0 : (bits & 0x8000U) ? -1 : 1;
}
#define CUDLA_SIM_BF16_COMPARISON(name, sign)                                                      \
    CUDLA_SIM_BF16 bool name(const __nv_bfloat16 a, const __nv_bfloat16 b) {                       \
        return __bfloat162float(a) sign __bfloat162float(b);                                       \
    }                                                                                              \
    CUDLA_SIM_BF16 bool name##u(const __nv_bfloat16 a, const __nv_bfloat16 b) {                    \
        return __hisnan(a) || __hisnan(b) || name(a, b);                                           \
    }
CUDLA_SIM_BF16_COMPARISON(__heq, ==)
CUDLA_SIM_BF16_COMPARISON(__hlt, <)
CUDLA_SIM_BF16_COMPARISON(__hle, <=)
CUDLA_SIM_BF16_COMPARISON(__hgt, >)
CUDLA_SIM_BF16_COMPARISON(__hge, >=)
#undef CUDLA_SIM_BF16_COMPARISON
CUDLA_SIM_BF16 bool __hne(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __hlt(a, b) || __hgt(a, b);
}
CUDLA_SIM_BF16 __nv_bfloat16 __hmax(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __hisnan(a) || __hgt(b, a) ? b : a;
}
CUDLA_SIM_BF16 __nv_bfloat16 __hmin(const __nv_bfloat16 a, const __nv_bfloat16 b) {
    return __hisnan(a) || __hlt(b, a) ? b : a;
}
#define CUDLA_SIM_BF16_PAIR(name, one)                                                             \
    CUDLA_SIM_BF16 __nv_bfloat162 name(const __nv_bfloat162 a, const __nv_bfloat162 b) {           \
        return __nv_bfloat162(one(a.x, b.x), one(a.y, b.y));                                       \
    }
CUDLA_SIM_BF16_PAIR(__hadd2, __hadd)
CUDLA_SIM_BF16_PAIR(__hsub2, __hsub)
CUDLA_SIM_BF16_PAIR(__hmul2, __hmul)
CUDLA_SIM_BF16_PAIR(__h2div, __hdiv)
CUDLA_SIM_BF16_PAIR(__hmax2, __hmax)
CUDLA_SIM_BF16_PAIR(__hmin2, __hmin)
#undef CUDLA_SIM_BF16_PAIR
CUDLA_SIM_BF16 __nv_bfloat162 __hfma2(const __nv_bfloat162 a, const __nv_bfloat162 b, const __nv_bfloat162 c) {
    return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}

/* ---- Functions ------------------------------------------------------------------------------ */

#define CUDLA_SIM_BF16_FUNCTION(name, expression)                                                  \
    CUDLA_SIM_BF16 __nv_bfloat16 h##name(const __nv_bfloat16 a) {                                  \
        const double x = __bfloat162float(a);                                                      \
        return __double2bfloat16(expression);                                                      \
    }
CUDLA_SIM_BF16_FUNCTION(sqrt, sqrt(x))
CUDLA_SIM_BF16_FUNCTION(rsqrt, 1 / sqrt(x))
CUDLA_SIM_BF16_FUNCTION(rcp, 1 / x)
CUDLA_SIM_BF16_FUNCTION(exp, exp(x))
CUDLA_SIM_BF16_FUNCTION(exp2, exp2(x))
CUDLA_SIM_BF16_FUNCTION(exp10, pow(10.0, x))
CUDLA_SIM_BF16_FUNCTION(log, log(x))
CUDLA_SIM_BF16_FUNCTION(log2, log2(x))
CUDLA_SIM_BF16_FUNCTION(log10, log10(x))
CUDLA_SIM_BF16_FUNCTION(sin, sin(x))
CUDLA_SIM_BF16_FUNCTION(cos, cos(x))
CUDLA_SIM_BF16_FUNCTION(tanh, tanh(x))
CUDLA_SIM_BF16_FUNCTION(floor, floor(x))
CUDLA_SIM_BF16_FUNCTION(ceil, ceil(x))
CUDLA_SIM_BF16_FUNCTION(trunc, trunc(x))
CUDLA_SIM_BF16_FUNCTION(rint, nearbyint(x))
#undef CUDLA_SIM_BF16_FUNCTION

#if !defined(__CUDA_NO_BFLOAT16_OPERATORS__)
inline __nv_bfloat16 operator+(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hadd(a, b); }
inline __nv_bfloat16 operator-(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hsub(a, b); }
inline __nv_bfloat16 operator*(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hmul(a, b); }
inline __nv_bfloat16 operator/(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hdiv(a, b); }
inline __nv_bfloat16 operator+(const __nv_bfloat16 &a) { return a; }
inline __nv_bfloat16 operator-(const __nv_bfloat16 &a) { return __hneg(a); }
inline __nv_bfloat16 &operator+=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hadd(a, b); }
inline __nv_bfloat16 &operator-=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hsub(a, b); }
inline __nv_bfloat16 &operator*=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hmul(a, b); }
inline __nv_bfloat16 &operator/=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hdiv(a, b); }
inline __nv_bfloat162 operator+(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __hadd2(a, b); }
inline __nv_bfloat162 operator-(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __hsub2(a, b); }
inline __nv_bfloat162 operator*(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __hmul2(a, b); }
inline bool operator==(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __heq(a, b); }
inline bool operator!=(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return !__heq(a, b); }
inline bool operator<(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hlt(a, b); }
inline bool operator<=(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hle(a, b); }
inline bool operator>(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hgt(a, b); }
inline bool operator>=(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hge(a, b); }
inline __nv_bfloat162 operator/(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __nv_bfloat162(a.x / b.x, a.y / b.y); }
inline __nv_bfloat162 &operator+=(__nv_bfloat162 &a, const __nv_bfloat162 &b) { return a = a + b; }
inline __nv_bfloat162 &operator-=(__nv_bfloat162 &a, const __nv_bfloat162 &b) { return a = a - b; }
inline __nv_bfloat162 &operator*=(__nv_bfloat162 &a, const __nv_bfloat162 &b) { return a = a * b; }
inline __nv_bfloat16 &operator++(__nv_bfloat16 &a) { return a = a + __float2bfloat16(1.0f); }
inline __nv_bfloat16 &operator--(__nv_bfloat16 &a) { return a = a - __float2bfloat16(1.0f); }
inline __nv_bfloat16 operator++(__nv_bfloat16 &a, int) { __nv_bfloat16 old = a; ++a; return old; }
inline __nv_bfloat16 operator--(__nv_bfloat16 &a, int) { __nv_bfloat16 old = a; --a; return old; }
inline __nv_bfloat162 operator+(const __nv_bfloat162 &a) { return a; }
inline __nv_bfloat162 operator-(const __nv_bfloat162 &a) { return __nv_bfloat162(-a.x, -a.y); }
inline __nv_bfloat162 &operator/=(__nv_bfloat162 &a, const __nv_bfloat162 &b) { return a = a / b; }
inline __nv_bfloat162 &operator++(__nv_bfloat162 &a) { return a = __nv_bfloat162(a.x + __float2bfloat16(1.0f), a.y + __float2bfloat16(1.0f)); }
inline __nv_bfloat162 &operator--(__nv_bfloat162 &a) { return a = __nv_bfloat162(a.x - __float2bfloat16(1.0f), a.y - __float2bfloat16(1.0f)); }
inline __nv_bfloat162 operator++(__nv_bfloat162 &a, int) { __nv_bfloat162 old = a; ++a; return old; }
inline __nv_bfloat162 operator--(__nv_bfloat162 &a, int) { __nv_bfloat162 old = a; --a; return old; }
/* Of both parts. */
inline bool operator==(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return a.x == b.x && a.y == b.y; }
inline bool operator!=(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return a.x != b.x && a.y != b.y; }
inline bool operator<(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return a.x < b.x && a.y < b.y; }
inline bool operator<=(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return a.x <= b.x && a.y <= b.y; }
inline bool operator>(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return a.x > b.x && a.y > b.y; }
inline bool operator>=(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return a.x >= b.x && a.y >= b.y; }
#endif

#undef CUDLA_SIM_BF16

#include "cuda_bf16.hpp"

#endif /* __cplusplus */
#endif /* !CUDLA_SIM_PARSE */

#endif /* __CUDA_BF16_H__ */

/* As in cuda_fp16.h. */
#if defined(__cplusplus) && !defined(CUDLA_SIM_PARSE) \
    && !defined(CUDLA_SIM_ENGINE) && !defined(CUDLA_SIM_BF16_NAMES)
#define CUDLA_SIM_BF16_NAMES
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
