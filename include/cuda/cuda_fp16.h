/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_fp16.h - half precision on the host: conversions, arithmetic and comparison.
 *
 * A half has a sign, 5 exponent bits (bias 15) and 10 fraction bits. Conversions round to the nearest
 * value, ties to even, denormals included; too large becomes infinity; every NaN becomes 0x7fff as a
 * half and 0x7fffffff as a float. Sums, products and quotients are computed in float and rounded
 * once more, which gives the correctly rounded half because a float has more than twice its digits.
 */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

/* Nothing here is exported; the generator of our bindings sees an empty header. */
#if !defined(CUDLA_SIM_PARSE)

#include <stdint.h>
#include <string.h>

#include "host_defines.h"
#include "vector_types.h"

#define __CUDA_FP16_TYPES_EXIST__
#define CUDLA_SIM_FP16 static inline __attribute__((unused))

/* ---- Bits ----------------------------------------------------------------------------------- */

/* Rounds a double to the bits of a half. A float passes through a double unchanged. */
CUDLA_SIM_FP16 unsigned short cudla_sim_half_bits(double value) {
    uint64_t bits, mantissa, rest, halfway;
    unsigned int sign, result;
    int exponent, drop;

    memcpy(&bits, &value, sizeof bits);
    sign = (unsigned int)(bits >> 48) & 0x8000U;
    bits &= 0x7fffffffffffffffULL;
    if (bits > 0x7ff0000000000000ULL) {
        return 0x7fff;
    }
    exponent = (int)(bits >> 52) - 1023;
    if (exponent >= 16) {
        return (unsigned short)(sign | 0x7c00U);
    }
    if (exponent < -25) { /* below half of the smallest denormal */
        return (unsigned short)sign;
    }
    mantissa = (bits & 0x000fffffffffffffULL) | 0x0010000000000000ULL;
    drop = exponent < -14 ? 42 + (-14 - exponent) : 42; /* fraction bits that do not fit */
    result = (unsigned int)(mantissa >> drop);
    if (exponent >= -14) {
        /* The leading one of the mantissa adds the last unit to the exponent. */
        result += (unsigned int)(exponent + 14) << 10;
    }
    rest = mantissa & ((1ULL << drop) - 1U);
    halfway = 1ULL << (drop - 1);
    if (rest > halfway || (rest == halfway && (result & 1U) != 0U)) {
        result += 1U; /* may carry into the exponent, up to infinity */
    }
    return (unsigned short)(sign | result);
}

CUDLA_SIM_FP16 float cudla_sim_half_value(unsigned short half_bits) {
    uint32_t sign = (uint32_t)(half_bits & 0x8000U) << 16;
    uint32_t exponent = (half_bits >> 10) & 0x1fU;
    uint32_t fraction = half_bits & 0x3ffU;
    uint32_t bits;
    float value;

    if (exponent == 0x1fU) {
        bits = fraction != 0U ? 0x7fffffffU : (sign | 0x7f800000U);
    } else if (exponent != 0U) {
        bits = sign | ((exponent + 112U) << 23) | (fraction << 13);
    } else if (fraction != 0U) {
        exponent = 113U;
        while ((fraction & 0x400U) == 0U) {
            fraction <<= 1;
            exponent -= 1U;
        }
        bits = sign | (exponent << 23) | ((fraction & 0x3ffU) << 13);
    } else {
        bits = sign;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Types ---------------------------------------------------------------------------------- */

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __half_raw;

typedef struct __attribute__((aligned(4))) {
    unsigned short x;
    unsigned short y;
} __half2_raw;

#if defined(__cplusplus)

struct __attribute__((aligned(2), may_alias)) __half {
  protected:
    unsigned short __x;

  public:
    __half() = default;
    constexpr __half(const __half_raw &raw) : __x(raw.x) {}
    __half(float v) : __x(cudla_sim_half_bits(static_cast<double>(v))) {}
    __half(double v) : __x(cudla_sim_half_bits(v)) {}
    __half(short v) : __x(cudla_sim_half_bits(v)) {}
    __half(unsigned short v) : __x(cudla_sim_half_bits(v)) {}
    __half(int v) : __x(cudla_sim_half_bits(v)) {}
    __half(unsigned int v) : __x(cudla_sim_half_bits(v)) {}
    __half(long v) : __x(cudla_sim_half_bits(static_cast<double>(v))) {}
    __half(unsigned long v) : __x(cudla_sim_half_bits(static_cast<double>(v))) {}
    __half(long long v) : __x(cudla_sim_half_bits(static_cast<double>(v))) {}
    __half(unsigned long long v) : __x(cudla_sim_half_bits(static_cast<double>(v))) {}

    __half &operator=(const __half_raw &raw) {
        __x = raw.x;
        return *this;
    }
    __half &operator=(float v) { return *this = __half(v); }
    __half &operator=(double v) { return *this = __half(v); }
    __half &operator=(short v) { return *this = __half(v); }
    __half &operator=(unsigned short v) { return *this = __half(v); }
    __half &operator=(int v) { return *this = __half(v); }
    __half &operator=(unsigned int v) { return *this = __half(v); }
    __half &operator=(long long v) { return *this = __half(v); }
    __half &operator=(unsigned long long v) { return *this = __half(v); }

    operator __half_raw() const {
        __half_raw raw;
        raw.x = __x;
        return raw;
    }
    operator float() const { return cudla_sim_half_value(__x); }
};

template <class Raw, class Pair> struct cudla_sim_pair_of {};
template <> struct cudla_sim_pair_of<__half2_raw, struct __half2> {
    typedef __half2 type;
};

struct __attribute__((aligned(4), may_alias)) __half2 {
    __half x;
    __half y;

    __half2() = default;
    __half2(const __half &a, const __half &b) : x(a), y(b) {}
    constexpr __half2(const __half2_raw &raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
    /* Of that type only: `x = {}` and `x = {a, b}` are pairs. */
    template <class Raw> typename cudla_sim_pair_of<Raw, __half2>::type &operator=(const Raw &raw) {
        return *this = __half2(raw);
    }
    operator __half2_raw() const { return __half2_raw{__half_raw(x).x, __half_raw(y).x}; }
};

CUDLA_SIM_FP16 __half cudla_sim_half_from(unsigned short bits) {
    __half_raw raw;
    raw.x = bits;
    return __half(raw);
}
CUDLA_SIM_FP16 unsigned short cudla_sim_half_to(__half h) { return __half_raw(h).x; }

#else

typedef struct __attribute__((aligned(2))) {
    unsigned short __x;
} __half;

typedef struct __attribute__((aligned(4))) {
    __half x;
    __half y;
} __half2;

CUDLA_SIM_FP16 __half cudla_sim_half_from(unsigned short bits) {
    __half h;
    h.__x = bits;
    return h;
}
CUDLA_SIM_FP16 unsigned short cudla_sim_half_to(__half h) { return h.__x; }

#endif

/* ---- Conversions ---------------------------------------------------------------------------- */

CUDLA_SIM_FP16 __half __float2half(const float a) {
    return cudla_sim_half_from(cudla_sim_half_bits((double)a));
}
CUDLA_SIM_FP16 __half __float2half_rn(const float a) { return __float2half(a); }
CUDLA_SIM_FP16 __half __double2half(const double a) {
    return cudla_sim_half_from(cudla_sim_half_bits(a));
}
CUDLA_SIM_FP16 float __half2float(const __half a) {
    return cudla_sim_half_value(cudla_sim_half_to(a));
}
CUDLA_SIM_FP16 unsigned short __half_as_ushort(const __half h) { return cudla_sim_half_to(h); }
CUDLA_SIM_FP16 short __half_as_short(const __half h) {
    unsigned short bits = cudla_sim_half_to(h);
    short result;
    memcpy(&result, &bits, sizeof result);
    return result;
}
CUDLA_SIM_FP16 __half __ushort_as_half(const unsigned short bits) {
    return cudla_sim_half_from(bits);
}
CUDLA_SIM_FP16 __half __short_as_half(const short bits) {
    return cudla_sim_half_from((unsigned short)bits);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

CUDLA_SIM_FP16 __half2 __halves2half2(const __half a, const __half b) {
    __half2 pair;
    pair.x = a;
    pair.y = b;
    return pair;
}
CUDLA_SIM_FP16 __half2 make_half2(const __half a, const __half b) { return __halves2half2(a, b); }
CUDLA_SIM_FP16 __half2 __floats2half2_rn(const float a, const float b) {
    return __halves2half2(__float2half(a), __float2half(b));
}
CUDLA_SIM_FP16 __half2 __float2half2_rn(const float a) { return __floats2half2_rn(a, a); }
CUDLA_SIM_FP16 __half2 __float22half2_rn(const float2 a) { return __floats2half2_rn(a.x, a.y); }
CUDLA_SIM_FP16 float2 __half22float2(const __half2 a) {
    float2 pair;
    pair.x = __half2float(a.x);
    pair.y = __half2float(a.y);
    return pair;
}
CUDLA_SIM_FP16 __half __low2half(const __half2 a) { return a.x; }
CUDLA_SIM_FP16 __half __high2half(const __half2 a) { return a.y; }
CUDLA_SIM_FP16 float __low2float(const __half2 a) { return __half2float(a.x); }
CUDLA_SIM_FP16 float __high2float(const __half2 a) { return __half2float(a.y); }

/* ---- Arithmetic and comparison -------------------------------------------------------------- */

CUDLA_SIM_FP16 __half __hadd(const __half a, const __half b) {
    return __float2half(__half2float(a) + __half2float(b));
}
CUDLA_SIM_FP16 __half __hsub(const __half a, const __half b) {
    return __float2half(__half2float(a) - __half2float(b));
}
CUDLA_SIM_FP16 __half __hmul(const __half a, const __half b) {
    return __float2half(__half2float(a) * __half2float(b));
}
CUDLA_SIM_FP16 __half __hdiv(const __half a, const __half b) {
    return __float2half(__half2float(a) / __half2float(b));
}
CUDLA_SIM_FP16 __half __hneg(const __half a) {
    return cudla_sim_half_from((unsigned short)(cudla_sim_half_to(a) ^ 0x8000U));
}
CUDLA_SIM_FP16 __half __habs(const __half a) {
    return cudla_sim_half_from((unsigned short)(cudla_sim_half_to(a) & 0x7fffU));
}
CUDLA_SIM_FP16 int cudla_sim_half_isnan(const __half a) {
    return (cudla_sim_half_to(a) & 0x7fffU) > 0x7c00U;
}
#if defined(__cplusplus)
#define CUDLA_SIM_BOOL bool
#else
#define CUDLA_SIM_BOOL int
#endif
CUDLA_SIM_FP16 CUDLA_SIM_BOOL __hisnan(const __half a) { return cudla_sim_half_isnan(a) != 0; }
CUDLA_SIM_FP16 CUDLA_SIM_BOOL __heq(const __half a, const __half b) {
    return __half2float(a) == __half2float(b);
}
CUDLA_SIM_FP16 CUDLA_SIM_BOOL __hne(const __half a, const __half b) {
    return __half2float(a) < __half2float(b) || __half2float(a) > __half2float(b);
}
CUDLA_SIM_FP16 CUDLA_SIM_BOOL __hlt(const __half a, const __half b) {
    return __half2float(a) < __half2float(b);
}
CUDLA_SIM_FP16 CUDLA_SIM_BOOL __hle(const __half a, const __half b) {
    return __half2float(a) <= __half2float(b);
}
CUDLA_SIM_FP16 CUDLA_SIM_BOOL __hgt(const __half a, const __half b) {
    return __half2float(a) > __half2float(b);
}
CUDLA_SIM_FP16 CUDLA_SIM_BOOL __hge(const __half a, const __half b) {
    return __half2float(a) >= __half2float(b);
}
CUDLA_SIM_FP16 int __hisinf(const __half a) {
    unsigned short bits = cudla_sim_half_to(a);
    return (bits & 0x7fffU) != 0x7c00U ? 0 : (bits & 0x8000U) ? -1 : 1;
}
CUDLA_SIM_FP16 __half __hmax(const __half a, const __half b) {
    return __hisnan(a) || __hgt(b, a) ? b : a;
}
CUDLA_SIM_FP16 __half __hmin(const __half a, const __half b) {
    return __hisnan(a) || __hlt(b, a) ? b : a;
}
#undef CUDLA_SIM_BOOL

/* One rounding: the product of two halves is exact in double, and so is what of a sum decides. */
CUDLA_SIM_FP16 __half __hfma(const __half a, const __half b, const __half c) {
    double product = (double)__half2float(a) * (double)__half2float(b);
    return __double2half(product + (double)__half2float(c));
}

CUDLA_SIM_FP16 __half2 __hadd2(const __half2 a, const __half2 b) {
    return __halves2half2(__hadd(a.x, b.x), __hadd(a.y, b.y));
}
CUDLA_SIM_FP16 __half2 __hsub2(const __half2 a, const __half2 b) {
    return __halves2half2(__hsub(a.x, b.x), __hsub(a.y, b.y));
}
CUDLA_SIM_FP16 __half2 __hmul2(const __half2 a, const __half2 b) {
    return __halves2half2(__hmul(a.x, b.x), __hmul(a.y, b.y));
}
CUDLA_SIM_FP16 __half2 __h2div(const __half2 a, const __half2 b) {
    return __halves2half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
CUDLA_SIM_FP16 __half2 __hneg2(const __half2 a) {
    return __halves2half2(__hneg(a.x), __hneg(a.y));
}
CUDLA_SIM_FP16 __half2 __hfma2(const __half2 a, const __half2 b, const __half2 c) {
    return __halves2half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
CUDLA_SIM_FP16 __half2 __half2half2(const __half a) { return __halves2half2(a, a); }
CUDLA_SIM_FP16 __half2 __lowhigh2highlow(const __half2 a) { return __halves2half2(a.y, a.x); }

#if defined(__cplusplus)
#include "cuda_fp16.hpp"
#else
CUDLA_SIM_FP16 __half __int2half_rn(const int a) { return __double2half((double)a); }
/* To the nearest even integer, towards zero, down, up; NaN is 0, what is infinite the last one. */
CUDLA_SIM_FP16 int cudla_sim_half_whole(const __half a, int up, int down) {
    float value = __half2float(a);
    int whole;
    if (value != value)
        return 0;
    if (__hisinf(a))
        return value > 0 ? 0x7fffffff : -0x7fffffff - 1;
    whole = (int)value;
    if (down && value < (float)whole)
        whole--;
    if (up && value > (float)whole)
        whole++;
    return whole;
}
CUDLA_SIM_FP16 int __half2int_rz(const __half a) { return cudla_sim_half_whole(a, 0, 0); }
CUDLA_SIM_FP16 int __half2int_rd(const __half a) { return cudla_sim_half_whole(a, 0, 1); }
CUDLA_SIM_FP16 int __half2int_ru(const __half a) { return cudla_sim_half_whole(a, 1, 0); }
CUDLA_SIM_FP16 int __half2int_rn(const __half a) {
    int below = cudla_sim_half_whole(a, 0, 1);
    float rest = __hisinf(a) ? 0.0f : __half2float(a) - (float)below;
    return rest > 0.5f || (rest == 0.5f && (below & 1)) ? below + 1 : below;
}
#endif

#if defined(__cplusplus) && !defined(__CUDA_NO_HALF_OPERATORS__)
inline __half operator+(const __half &a, const __half &b) { return __hadd(a, b); }
inline __half operator-(const __half &a, const __half &b) { return __hsub(a, b); }
inline __half operator*(const __half &a, const __half &b) { return __hmul(a, b); }
inline __half operator/(const __half &a, const __half &b) { return __hdiv(a, b); }
inline __half operator+(const __half &a) { return a; }
inline __half operator-(const __half &a) { return __hneg(a); }
inline __half2 operator+(const __half2 &a, const __half2 &b) { return __hadd2(a, b); }
inline __half2 operator-(const __half2 &a, const __half2 &b) { return __hsub2(a, b); }
inline __half2 operator*(const __half2 &a, const __half2 &b) { return __hmul2(a, b); }
inline __half2 operator/(const __half2 &a, const __half2 &b) { return __h2div(a, b); }
inline __half2 &operator+=(__half2 &a, const __half2 &b) { return a = __hadd2(a, b); }
inline __half2 &operator-=(__half2 &a, const __half2 &b) { return a = __hsub2(a, b); }
inline __half2 &operator*=(__half2 &a, const __half2 &b) { return a = __hmul2(a, b); }
inline __half &operator+=(__half &a, const __half &b) { return a = __hadd(a, b); }
inline __half &operator-=(__half &a, const __half &b) { return a = __hsub(a, b); }
inline __half &operator*=(__half &a, const __half &b) { return a = __hmul(a, b); }
inline __half &operator/=(__half &a, const __half &b) { return a = __hdiv(a, b); }
inline bool operator==(const __half &a, const __half &b) { return __heq(a, b); }
inline bool operator!=(const __half &a, const __half &b) { return !__heq(a, b); }
inline bool operator<(const __half &a, const __half &b) { return __hlt(a, b); }
inline bool operator<=(const __half &a, const __half &b) { return __hle(a, b); }
inline bool operator>(const __half &a, const __half &b) { return __hgt(a, b); }
inline bool operator>=(const __half &a, const __half &b) { return __hge(a, b); }
inline __half &operator++(__half &a) { return a = a + __float2half(1.0f); }
inline __half &operator--(__half &a) { return a = a - __float2half(1.0f); }
inline __half operator++(__half &a, int) { __half old = a; ++a; return old; }
inline __half operator--(__half &a, int) { __half old = a; --a; return old; }
inline __half2 operator+(const __half2 &a) { return a; }
inline __half2 operator-(const __half2 &a) { return __hneg2(a); }
inline __half2 &operator/=(__half2 &a, const __half2 &b) { return a = a / b; }
inline __half2 &operator++(__half2 &a) { return a = __half2(a.x + __float2half(1.0f), a.y + __float2half(1.0f)); }
inline __half2 &operator--(__half2 &a) { return a = __half2(a.x - __float2half(1.0f), a.y - __float2half(1.0f)); }
inline __half2 operator++(__half2 &a, int) { __half2 old = a; ++a; return old; }
inline __half2 operator--(__half2 &a, int) { __half2 old = a; --a; return old; }
/* Of both parts. */
inline bool operator==(const __half2 &a, const __half2 &b) { return a.x == b.x && a.y == b.y; }
inline bool operator!=(const __half2 &a, const __half2 &b) { return a.x != b.x && a.y != b.y; }
inline bool operator<(const __half2 &a, const __half2 &b) { return a.x < b.x && a.y < b.y; }
inline bool operator<=(const __half2 &a, const __half2 &b) { return a.x <= b.x && a.y <= b.y; }
inline bool operator>(const __half2 &a, const __half2 &b) { return a.x > b.x && a.y > b.y; }
inline bool operator>=(const __half2 &a, const __half2 &b) { return a.x >= b.x && a.y >= b.y; }
#endif

#undef CUDLA_SIM_FP16

#endif /* !CUDLA_SIM_PARSE */

#endif /* __CUDA_FP16_H__ */

/* Short names are for who includes this, not for whose kernels are compiled with it. */
#if !defined(CUDA_NO_HALF) && !defined(CUDLA_SIM_PARSE) \
    && !defined(CUDLA_SIM_ENGINE) && !defined(CUDLA_SIM_FP16_NAMES)
#define CUDLA_SIM_FP16_NAMES
typedef __half half;
#endif
