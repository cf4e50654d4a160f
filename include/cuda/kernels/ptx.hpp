/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/ptx.hpp - what instructions of inline PTX compute (PTX ISA, "Instruction set").
 * cudla_sim/cuda_kernels/ptx/ writes the calls.
 */
#ifndef CUDLA_SIM_KERNELS_PTX_H
#define CUDLA_SIM_KERNELS_PTX_H

#include <cmath>
#include <limits>
#include <type_traits>

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "builtins.hpp"
#include "conversions.hpp"
#include "division.hpp"
#include "integers.hpp"

namespace cudla_sim {

template <class T> constexpr bool ptx_is_half = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
template <class T> constexpr bool ptx_is_pair = std::is_same_v<T, __half2> || std::is_same_v<T, __nv_bfloat162>;

/* A register as an instruction of that type reads it: the same bits, or where sizes differ the same number. */
template <class T, class From> inline T ptx_in(const From &value) {
    if constexpr (std::is_pointer_v<From> && sizeof(T) == sizeof(From)) {
        return static_cast<T>(reinterpret_cast<uintptr_t>(value));
    } else if constexpr (std::is_same_v<T, bool>) {
        return value != 0;
    } else if constexpr (sizeof(T) == sizeof(From) || std::is_class_v<T> || std::is_class_v<From>) {
        T result{};
        memcpy(&result, &value, sizeof result < sizeof value ? sizeof result : sizeof value);
        return result;
    } else {
        return static_cast<T>(value);
    }
}
template <class To, class T> inline void ptx_out(To &target, T value) {
    if constexpr (std::is_pointer_v<To>)
        target = reinterpret_cast<To>(static_cast<uintptr_t>(value));
    else
        target = ptx_in<To>(value);
}

/* Subnormal singles are zeros of their sign (.ftz). */
inline float ptx_ftz(float value) {
    return (ptx_in<uint32_t>(value) & 0x7f800000u) ? value : ptx_in<float>(ptx_in<uint32_t>(value) & 0x80000000u);
}

/* Parts of a register, the lowest first. */
template <class Piece, class T> inline Piece ptx_part(T value, unsigned number) {
    return static_cast<Piece>(value >> (8 * sizeof(Piece) * number));
}
template <class T, class... Piece> inline T ptx_joined(Piece... pieces) {
    T result = 0;
    unsigned at = 0;
    ((result = static_cast<T>(result | static_cast<T>(ptx_in<T>(pieces)) << at), at += 8 * sizeof(Piece)), ...);
    return result;
}

/* A function of numbers on numbers of 16 bits: computed in double, rounded once. */
template <class T, class Function, class... More> inline T ptx_each(Function function, T first, More... more) {
    if constexpr (std::is_same_v<T, __half>)
        return T(static_cast<double>(function(static_cast<double>(__half2float(first)),
                                              static_cast<double>(__half2float(more))...)));
    else if constexpr (std::is_same_v<T, __nv_bfloat16>)
        return T(static_cast<double>(function(static_cast<double>(__bfloat162float(first)),
                                              static_cast<double>(__bfloat162float(more))...)));
    else if constexpr (ptx_is_pair<T>)
        return T(ptx_each(function, first.x, more.x...), ptx_each(function, first.y, more.y...));
    else
        return static_cast<T>(function(first, more...));
}

/* --- between numbers ----------------------------------------------------------------------------------------- */

template <class T> inline auto ptx_number(T value) {
    if constexpr (std::is_same_v<T, __half>)
        return __half2float(value);
    else if constexpr (std::is_same_v<T, __nv_bfloat16>)
        return __bfloat162float(value);
    else
        return value;
}
template <class To, class T> inline To ptx_rounded_to(T value, int way) {
    if constexpr (ptx_is_half<To>) { /* between its neighbours */
        const double exact = static_cast<double>(value);
        To nearest = To(exact);
        const double got = static_cast<double>(ptx_number(nearest));
        const bool down = way == FE_DOWNWARD || (way == FE_TOWARDZERO && exact > 0);
        const bool up = way == FE_UPWARD || (way == FE_TOWARDZERO && exact < 0);
        if ((down && got > exact) || (up && got < exact)) {
            uint16_t bits = ptx_in<uint16_t>(nearest);
            bits = static_cast<uint16_t>(got == 0 ? (down ? 0x8001 : 1) : bits + ((got > 0) == down ? -1 : 1));
            nearest = ptx_in<To>(bits);
        }
        return nearest;
    } else {
        return rounded<To>(value, way);
    }
}
/* From a real number to an integer: rounded, and held where the integer ends. */
template <class To, class T, class Round> inline To ptx_cvt(T value, Round round) {
    const auto number = ptx_number(value);
    if constexpr (!std::is_floating_point_v<decltype(number)>) {
        if constexpr (ptx_is_half<To>)
            return To(static_cast<double>(number));
        else
            return static_cast<To>(number);
    } else if constexpr (ptx_is_half<To>) {
        return To(static_cast<double>(round(number)));
    } else if constexpr (std::is_floating_point_v<To>) {
        return static_cast<To>(round(number));
    } else {
        return whole<To>(static_cast<double>(round(number)), sizeof(To) > 4 || sizeof(T) > 4);
    }
}
template <class To, class T> inline To ptx_cvt_rni(T x) {
    return ptx_cvt<To>(x, [](auto a) { return std::nearbyint(a); });
}
/* Without a rounding of its own, too: between real numbers nothing is cut. */
template <class To, class T> inline To ptx_cvt_rzi(T x) {
    return ptx_cvt<To>(x, [](auto a) {
        if constexpr (std::is_integral_v<To>)
            return std::trunc(a);
        else
            return a;
    });
}
/* To a real number without a fraction. */
template <class To, class T> inline To ptx_cvt_cut(T x) {
    return ptx_cvt<To>(x, [](auto a) { return std::trunc(a); });
}
template <class To, class T> inline To ptx_cvt_rmi(T x) {
    return ptx_cvt<To>(x, [](auto a) { return std::floor(a); });
}
template <class To, class T> inline To ptx_cvt_rpi(T x) {
    return ptx_cvt<To>(x, [](auto a) { return std::ceil(a); });
}
template <class To, class T> inline To ptx_cvt_rz(T x) { return ptx_rounded_to<To>(ptx_number(x), FE_TOWARDZERO); }
template <class To, class T> inline To ptx_cvt_rd(T x) { return ptx_rounded_to<To>(ptx_number(x), FE_DOWNWARD); }
template <class To, class T> inline To ptx_cvt_ru(T x) { return ptx_rounded_to<To>(ptx_number(x), FE_UPWARD); }
template <class T> inline __half ptx_cvt_half(T x) { return ptx_cvt_rzi<__half>(x); }
template <class T> inline __nv_bfloat16 ptx_cvt_bfloat(T x) { return ptx_cvt_rzi<__nv_bfloat16>(x); }
/* Real numbers from 0 to 1, NaN is 0. */
template <class T> inline T ptx_sat(T x) {
    return ptx_each([](auto a) { return a > 0 ? (a < 1 ? a : decltype(a){1}) : decltype(a){0}; }, x);
}
template <class T> inline T ptx_relu(T x) {
    return ptx_each([](auto a) { return a > 0 || a != a ? a : decltype(a){0}; }, x);
}
/* Held where the integer ends. */
template <class T> inline T ptx_held(__int128 value) {
    const __int128 least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    return static_cast<T>(value < least ? least : value > most ? most : value);
}
template <class To, class T> inline To ptx_cvt_sat(T x) {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<To>) {
        return ptx_held<To>(x);
    } else if constexpr (std::is_integral_v<To>) {
        return ptx_cvt_rzi<To>(x);
    } else {
        return ptx_sat(ptx_cvt_rzi<To>(x));
    }
}
/* To the nearest of eleven bits, away from zero in the middle. */
inline float ptx_tf32(float value) {
    const uint32_t bits = ptx_in<uint32_t>(value);
    return (bits & 0x7f800000u) == 0x7f800000u ? value : ptx_in<float>((bits + 0x1000u) & ~0x1fffu);
}

/* --- comparisons ---------------------------------------------------------------------------------------------- */

#define CUDLA_SIM_PTX_TEST(name, expression)                                                                         \
    template <class T> inline bool ptx_is_##name(T x, T y) {                                                         \
        const auto a = ptx_number(x);                                                                                \
        const auto b = ptx_number(y);                                                                                \
        return expression;                                                                                           \
    }
CUDLA_SIM_PTX_TEST(eq, a == b)
CUDLA_SIM_PTX_TEST(ne, a != b && a == a && b == b)
CUDLA_SIM_PTX_TEST(lt, a < b)
CUDLA_SIM_PTX_TEST(le, a <= b)
CUDLA_SIM_PTX_TEST(gt, a > b)
CUDLA_SIM_PTX_TEST(ge, a >= b)
CUDLA_SIM_PTX_TEST(lo, a < b)
CUDLA_SIM_PTX_TEST(ls, a <= b)
CUDLA_SIM_PTX_TEST(hi, a > b)
CUDLA_SIM_PTX_TEST(hs, a >= b)
CUDLA_SIM_PTX_TEST(equ, a == b || a != a || b != b)
CUDLA_SIM_PTX_TEST(neu, a != b)
CUDLA_SIM_PTX_TEST(ltu, !(a >= b))
CUDLA_SIM_PTX_TEST(leu, !(a > b))
CUDLA_SIM_PTX_TEST(gtu, !(a <= b))
CUDLA_SIM_PTX_TEST(geu, !(a < b))
CUDLA_SIM_PTX_TEST(num, a == a && b == b)
CUDLA_SIM_PTX_TEST(nan, a != a || b != b)
#undef CUDLA_SIM_PTX_TEST
template <class T> inline bool ptx_testp_finite(T a) { return std::isfinite(a); }
template <class T> inline bool ptx_testp_infinite(T a) { return std::isinf(a); }
template <class T> inline bool ptx_testp_number(T a) { return !std::isnan(a); }
template <class T> inline bool ptx_testp_notanumber(T a) { return std::isnan(a); }
template <class T> inline bool ptx_testp_normal(T a) { return std::isnormal(a); }
template <class T> inline bool ptx_testp_subnormal(T a) { return std::fpclassify(a) == FP_SUBNORMAL; }

/* --- arithmetic ----------------------------------------------------------------------------------------------- */

template <class T> using ptx_wide_t =
    std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 2, int32_t, int64_t>,
                       std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>>;
template <class T> using ptx_widest_t = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

/* Integers wrap: they are computed without a sign. */
#define CUDLA_SIM_PTX_WRAPS(name, sign)                                                                              \
    template <class T> inline T ptx_##name(T a, T b) {                                                               \
        if constexpr (std::is_integral_v<T>)                                                                         \
            return static_cast<T>(static_cast<uint64_t>(a) sign static_cast<uint64_t>(b));                           \
        else                                                                                                         \
            return ptx_each([](auto x, auto y) { return x sign y; }, a, b);                                          \
    }
CUDLA_SIM_PTX_WRAPS(add, +)
CUDLA_SIM_PTX_WRAPS(sub, -)
CUDLA_SIM_PTX_WRAPS(mul, *)
#undef CUDLA_SIM_PTX_WRAPS
template <class T> inline T ptx_add_sat(T a, T b) { return ptx_held<T>(static_cast<__int128>(a) + b); }
template <class T> inline T ptx_sub_sat(T a, T b) { return ptx_held<T>(static_cast<__int128>(a) - b); }
template <class T> inline ptx_wide_t<T> ptx_mul_wide(T a, T b) { return ptx_wide_t<T>(a) * ptx_wide_t<T>(b); }
template <class T> inline T ptx_mul_hi(T a, T b) {
    return static_cast<T>((static_cast<ptx_widest_t<T>>(a) * b) >> (8 * sizeof(T)));
}
template <class T> inline T ptx_fma(T a, T b, T c) {
    return ptx_each([](auto x, auto y, auto z) { return std::fma(x, y, z); }, a, b, c);
}
template <class T, class C> inline T ptx_mad(T a, T b, C c) {
    if constexpr (std::is_integral_v<T>)
        return ptx_add<T>(ptx_mul<T>(a, b), ptx_in<T>(c));
    else
        return ptx_fma<T>(a, b, ptx_in<T>(c));
}
template <class T, class C> inline ptx_wide_t<T> ptx_mad_wide(T a, T b, C c) {
    return ptx_add<ptx_wide_t<T>>(ptx_mul_wide<T>(a, b), ptx_in<ptx_wide_t<T>>(c));
}
template <class T, class C> inline T ptx_mad_hi(T a, T b, C c) { return ptx_add<T>(ptx_mul_hi<T>(a, b), ptx_in<T>(c)); }
template <class T, class C> inline T ptx_mad_hi_sat(T a, T b, C c) {
    return ptx_add_sat<T>(ptx_mul_hi<T>(a, b), ptx_in<T>(c));
}
/* Of 24 bits each; of the 48 the lower or the upper 32. */
template <class T> inline int64_t ptx_product24(T a, T b) {
    auto cut = [](T x) -> int64_t {
        return std::is_signed_v<T> ? static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8 : x & 0xffffff;
    };
    return cut(a) * cut(b);
}
template <class T> inline T ptx_mul24(T a, T b) { return static_cast<T>(ptx_product24(a, b)); }
template <class T> inline T ptx_mul24_hi(T a, T b) { return static_cast<T>(ptx_product24(a, b) >> 16); }
template <class T> inline T ptx_mad24(T a, T b, T c) { return ptx_add<T>(ptx_mul24(a, b), c); }
template <class T> inline T ptx_mad24_hi(T a, T b, T c) { return ptx_add<T>(ptx_mul24_hi(a, b), c); }
/* Nothing stops a GPU; the largest negative number has no positive one. */
template <class T> inline T ptx_div(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0)
            return static_cast<T>(by_zero(static_cast<uint64_t>(a), sizeof(T) * 8));
        return std::is_signed_v<T> && b == static_cast<T>(-1) ? static_cast<T>(0 - static_cast<uint64_t>(a))
                                                              : static_cast<T>(a / b);
    } else {
        return a / b;
    }
}
template <class T> inline T ptx_rem(T a, T b) {
    if (b == 0)
        return static_cast<T>(by_zero(static_cast<uint64_t>(a), sizeof(T) * 8));
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
}
template <class T> inline T ptx_sad(T a, T b, T c) { return static_cast<T>(c + (a < b ? b - a : a - b)); }
template <class T> inline T ptx_neg(T a) {
    if constexpr (std::is_integral_v<T>)
        return ptx_sub<T>(0, a);
    else
        return ptx_each([](auto x) { return -x; }, a);
}
template <class T> inline T ptx_abs(T a) {
    if constexpr (std::is_integral_v<T>)
        return a < 0 ? ptx_neg(a) : a;
    else
        return ptx_each([](auto x) { return std::fabs(x); }, a);
}
template <class T> inline T ptx_copysign(T sign, T of) { return std::copysign(of, sign); }
template <class T> inline T ptx_cnot(T a) { return a == 0; }
template <class T> inline T ptx_min(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return b < a ? b : a;
    else
        return ptx_each([](auto x, auto y) { return std::fmin(x, y); }, a, b);
}
template <class T> inline T ptx_max(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return a < b ? b : a;
    else
        return ptx_each([](auto x, auto y) { return std::fmax(x, y); }, a, b);
}
template <class T> inline T ptx_min_NaN(T a, T b) {
    return ptx_each([](auto x, auto y) { return x != x || y != y ? x + y : std::fmin(x, y); }, a, b);
}
template <class T> inline T ptx_max_NaN(T a, T b) {
    return ptx_each([](auto x, auto y) { return x != x || y != y ? x + y : std::fmax(x, y); }, a, b);
}
template <class A, class B> inline auto ptx_dp4a(A a, B b, uint32_t c) {
    for (unsigned i = 0; i < 32; i += 8) {
        const int64_t x = std::is_signed_v<A> ? static_cast<int8_t>(a >> i) : static_cast<uint8_t>(a >> i);
        const int64_t y = std::is_signed_v<B> ? static_cast<int8_t>(b >> i) : static_cast<uint8_t>(b >> i);
        c += static_cast<uint32_t>(x * y);
    }
    return c;
}
/* Two halves of a by two bytes of b. */
template <class A, class B> inline auto ptx_dp2a(A a, B b, uint32_t c, unsigned first = 0) {
    for (unsigned i = 0; i < 2; i++) {
        const unsigned at = 8 * (first + i);
        const int64_t x = std::is_signed_v<A> ? static_cast<int16_t>(a >> 16 * i) : static_cast<uint16_t>(a >> 16 * i);
        const int64_t y = std::is_signed_v<B> ? static_cast<int8_t>(b >> at) : static_cast<uint8_t>(b >> at);
        c += static_cast<uint32_t>(x * y);
    }
    return c;
}
template <class A, class B> inline auto ptx_dp2a_hi(A a, B b, uint32_t c) { return ptx_dp2a<A, B>(a, b, c, 2); }

/* The register CC: what an instruction with .cc leaves to the next one that asks, of this statement or another. */
inline thread_local unsigned ptx_cc = 0;

template <class U, class T, bool Takes, bool Leaves> inline T ptx_carry_add(T a, T b) {
    Unwatched ours;
    const unsigned __int128 sum =
        static_cast<unsigned __int128>(static_cast<U>(a)) + static_cast<U>(b) + (Takes ? ptx_cc : 0);
    if (Leaves)
        ptx_cc = static_cast<unsigned>(sum >> (8 * sizeof(T))) & 1;
    return static_cast<T>(sum);
}
template <class U, class T, bool Takes, bool Leaves> inline T ptx_carry_sub(T a, T b) {
    Unwatched ours;
    const unsigned __int128 rest =
        static_cast<unsigned __int128>(static_cast<U>(a)) - static_cast<U>(b) - (Takes ? ptx_cc : 0);
    if (Leaves)
        ptx_cc = static_cast<unsigned>(rest >> (8 * sizeof(T))) & 1;
    return static_cast<T>(rest);
}
template <class U, class T, bool Takes, bool Leaves> inline T ptx_carry_mad_lo(T a, T b, T c) {
    return ptx_carry_add<U, T, Takes, Leaves>(ptx_mul<T>(a, b), c);
}
template <class U, class T, bool Takes, bool Leaves> inline T ptx_carry_mad_hi(T a, T b, T c) {
    return ptx_carry_add<U, T, Takes, Leaves>(ptx_mul_hi<T>(a, b), c);
}

/* --- instructions for pictures, of whole registers ------------------------------------------------------------- */

inline int64_t ptx_vadd(int64_t a, int64_t b) { return a + b; }
inline int64_t ptx_vsub(int64_t a, int64_t b) { return a - b; }
inline int64_t ptx_vabsdiff(int64_t a, int64_t b) { return a < b ? b - a : a - b; }
inline int64_t ptx_vmin(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t ptx_vmax(int64_t a, int64_t b) { return a < b ? b : a; }
inline int64_t ptx_count(int64_t by, bool wraps) { return wraps ? by & 31 : (by & 0xffffffff) > 32 ? 32 : by; }
inline int64_t ptx_vshl(int64_t a, int64_t by, bool wraps = false) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) << ptx_count(by, wraps));
}
inline int64_t ptx_vshr(int64_t a, int64_t by, bool wraps = false) { return a >> ptx_count(by, wraps); }
template <class T, bool Holds> inline T ptx_video(int64_t value) {
    return Holds ? ptx_held<T>(value) : static_cast<T>(value);
}

/* --- bits ----------------------------------------------------------------------------------------------------- */

template <class T> inline T ptx_and(T a, T b) { return a & b; }
template <class T> inline T ptx_or(T a, T b) { return a | b; }
template <class T> inline T ptx_xor(T a, T b) { return a ^ b; }
template <class T> inline T ptx_not(T a) {
    if constexpr (std::is_same_v<T, bool>)
        return !a;
    else
        return static_cast<T>(~a);
}
/* Counts beyond the width shift everything out. */
template <class T> inline T ptx_shl(T a, uint32_t by) { return by < 8 * sizeof(T) ? static_cast<T>(a << by) : 0; }
template <class T> inline T ptx_shr(T a, uint32_t by) {
    return by < 8 * sizeof(T) ? static_cast<T>(a >> by) : static_cast<T>(a < 0 ? -1 : 0);
}
template <class T> inline unsigned ptx_popc(T a) {
    return static_cast<unsigned>(__popcll(static_cast<std::make_unsigned_t<T>>(a)));
}
template <class T> inline unsigned ptx_clz(T a) {
    return a ? static_cast<unsigned>(__builtin_clzll(static_cast<std::make_unsigned_t<T>>(a))) - (64 - 8 * sizeof(T))
             : 8 * sizeof(T);
}
template <class T> inline T ptx_brev(T a) {
    T result = 0;
    for (size_t i = 0; i < 8 * sizeof(T); i++)
        result |= static_cast<T>((a >> i & 1) << (8 * sizeof(T) - 1 - i));
    return result;
}
template <class T> inline unsigned ptx_fns(T mask, T base, T offset) {
    return __fns(mask, base, static_cast<int>(offset));
}
/* So many ones from a bit on. */
template <class T> inline T ptx_bmsk(T from, T count) {
    const uint64_t ones = count < 32 ? (uint64_t{1} << count) - 1 : 0xffffffffu;
    return from < 32 ? static_cast<T>(ones << from) : 0;
}
template <class T> inline T ptx_bmsk_wrap(T from, T count) { return ptx_bmsk<T>(from & 31, count & 31); }
template <class T> inline T ptx_szext(T a, T bits) {
    const uint32_t n = static_cast<uint32_t>(bits);
    if (n >= 32 || n == 0)
        return n ? a : 0;
    return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << (32 - n)) >> (32 - n));
}
template <class T> inline T ptx_szext_wrap(T a, T bits) { return ptx_szext<T>(a, bits & 31); }
/* The place of the highest bit that is not the sign; all ones where there is none. */
template <class T> inline unsigned ptx_bfind(T a) {
    std::make_unsigned_t<T> bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    return bits ? 63u - static_cast<unsigned>(__builtin_clzll(bits)) : ~0u;
}
/* How far it is to the top from there. */
template <class T> inline unsigned ptx_bfind_shiftamt(T a) {
    const unsigned found = ptx_bfind<T>(a);
    return found == ~0u ? found : 8 * sizeof(T) - 1 - found;
}
template <class T> inline T ptx_bfe(T a, uint32_t position, uint32_t length) {
    const unsigned top = 8 * sizeof(T) - 1, first = position & 0xff, count = length & 0xff;
    const unsigned last = first + count - 1 < top ? first + count - 1 : top;
    const bool sign = std::is_signed_v<T> && count && (a >> last & 1);
    typedef std::make_unsigned_t<T> U;
    const unsigned taken = first > top ? 0 : count < top + 1 - first ? count : top + 1 - first;
    const U ones = taken > top ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << taken) - 1);
    const U bits = taken ? static_cast<U>(static_cast<U>(a) >> first) & ones : U{0};
    return static_cast<T>(sign ? bits | static_cast<U>(~ones) : bits);
}
template <class T> inline T ptx_bfi(T a, T b, uint32_t position, uint32_t length) {
    const unsigned width = 8 * sizeof(T), first = position & 0xff, count = length & 0xff;
    if (first >= width || count == 0)
        return b;
    const T ones = count >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
    const T place = static_cast<T>(ones << first);
    return static_cast<T>((b & ~place) | (static_cast<T>(a << first) & place));
}
template <class T> inline T ptx_lop3(T a, T b, T c, uint64_t table) {
    T result = 0; /* the table is a constant: the compiler keeps what it needs */
    for (unsigned i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : static_cast<T>(~a)) & (i & 2 ? b : static_cast<T>(~b)) & (i & 1 ? c : static_cast<T>(~c));
    return result;
}
/* Each nibble of the selector takes a byte of b:a, or with its high bit that byte's sign. */
template <class T> inline T ptx_prmt(T a, T b, T selector) { return static_cast<T>(__byte_perm(a, b, selector)); }
/* Modes of prmt: which of eight bytes, by the lowest two bits of the selector. */
template <class T, class Which> inline T ptx_chosen(T a, T b, Which which) {
    const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    T result = 0;
    for (unsigned i = 0; i < 4; i++)
        result |= static_cast<T>((bytes >> (8 * (which(i) & 7)) & 0xff) << (8 * i));
    return result;
}
#define CUDLA_SIM_PTX_PRMT(mode, expression)                                                                         \
    template <class T> inline T ptx_prmt_##mode(T a, T b, T selector) {                                              \
        const unsigned c = selector & 3;                                                                             \
        return ptx_chosen(a, b, [c](unsigned i) -> unsigned { return expression; });                                 \
    }
CUDLA_SIM_PTX_PRMT(f4e, c + i)
CUDLA_SIM_PTX_PRMT(b4e, c - i)
CUDLA_SIM_PTX_PRMT(rc8, ((void)i, c))
CUDLA_SIM_PTX_PRMT(ecl, i > c ? i : c)
CUDLA_SIM_PTX_PRMT(ecr, i < c ? i : c)
CUDLA_SIM_PTX_PRMT(rc16, (i & 1) + 2 * (c & 1))
#undef CUDLA_SIM_PTX_PRMT
/* Of four bytes each: the sum of the distances, and what it is added to. */
template <class T> inline T ptx_vabsdiff4(T a, T b, T sum) {
    for (unsigned i = 0; i < 32; i += 8) {
        const int x = a >> i & 0xff, y = b >> i & 0xff;
        sum += static_cast<T>(x < y ? y - x : x - y);
    }
    return sum;
}
#define CUDLA_SIM_PTX_FUNCTION(name, expression)                                                                     \
    template <class T> inline T ptx_##name(T a) {                                                                    \
        return ptx_each([](auto x) { return expression; }, a);                                                       \
    }
CUDLA_SIM_PTX_FUNCTION(ex2, std::exp2(x))
CUDLA_SIM_PTX_FUNCTION(lg2, std::log2(x))
CUDLA_SIM_PTX_FUNCTION(rcp, 1 / x)
CUDLA_SIM_PTX_FUNCTION(sqrt, std::sqrt(x))
CUDLA_SIM_PTX_FUNCTION(rsqrt, 1 / std::sqrt(x))
CUDLA_SIM_PTX_FUNCTION(sin, std::sin(x))
CUDLA_SIM_PTX_FUNCTION(cos, std::cos(x))
CUDLA_SIM_PTX_FUNCTION(tanh, std::tanh(x))
#undef CUDLA_SIM_PTX_FUNCTION

} // namespace cudla_sim

#endif
