/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/ptx.hpp - what instructions of inline PTX do (PTX ISA, "Instruction set").
 * cudla_sim/cuda_kernels/ptx.py writes the calls.
 */
#ifndef CUDLA_SIM_KERNELS_PTX_H
#define CUDLA_SIM_KERNELS_PTX_H

#include <cmath>
#include <limits>
#include <type_traits>

#include "builtins.hpp"

namespace cudla_sim {

/* A register as an instruction of that type reads it: bits where one is a float and the other is not. */
template <class T, class From> inline T ptx_in(From value) {
    if constexpr (sizeof(T) == sizeof(From) && std::is_floating_point_v<T> != std::is_floating_point_v<From>) {
        T result;
        memcpy(&result, &value, sizeof result);
        return result;
    } else if constexpr (std::is_pointer_v<From>) {
        return static_cast<T>(reinterpret_cast<uintptr_t>(value));
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

/* A cell of memory by a register that holds its address. */
template <class T, class From> inline T &ptx_at(From address, ptrdiff_t offset) {
    return *(T *)(uintptr_t)((uintptr_t)address + (uintptr_t)offset);
}

/* From a float to an integer: to the nearest one that there is, NaN is 0. */
template <class To, class T> inline To ptx_converted(T value, T whole) {
    if constexpr (!std::is_floating_point_v<T> || std::is_floating_point_v<To>) {
        return static_cast<To>(value);
    } else {
        if (value != value)
            return 0;
        if (whole <= static_cast<T>(std::numeric_limits<To>::min()))
            return std::numeric_limits<To>::min();
        if (whole >= static_cast<T>(std::numeric_limits<To>::max()))
            return std::numeric_limits<To>::max();
        return static_cast<To>(whole);
    }
}
template <class To, class T> inline To ptx_cvt_rni(T x) {
    if constexpr (std::is_floating_point_v<T>)
        return ptx_converted<To>(x, std::nearbyint(x));
    else
        return static_cast<To>(x);
}
template <class To, class T> inline To ptx_cvt_rzi(T x) {
    if constexpr (std::is_floating_point_v<T>)
        return ptx_converted<To>(x, std::trunc(x));
    else
        return static_cast<To>(x);
}
template <class To, class T> inline To ptx_cvt_rmi(T x) { return ptx_converted<To>(x, std::floor(x)); }
template <class To, class T> inline To ptx_cvt_rpi(T x) { return ptx_converted<To>(x, std::ceil(x)); }

template <class T> using ptx_wide_t =
    std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 2, int32_t, int64_t>,
                       std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>>;

template <class T> inline T ptx_add(T a, T b) { return a + b; }
template <class T> inline T ptx_sub(T a, T b) { return a - b; }
template <class T> inline T ptx_mul(T a, T b) { return a * b; }
template <class T> inline ptx_wide_t<T> ptx_mul_wide(T a, T b) { return ptx_wide_t<T>(a) * ptx_wide_t<T>(b); }
template <class T> inline T ptx_mul_hi(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
        return static_cast<T>((static_cast<Wide>(a) * b) >> 64);
    } else {
        return static_cast<T>(ptx_mul_wide(a, b) >> (8 * sizeof(T)));
    }
}
template <class T> inline T ptx_mad(T a, T b, T c) { return a * b + c; }
template <class T> inline T ptx_fma(T a, T b, T c) { return std::fma(a, b, c); }
template <class T> inline T ptx_div(T a, T b) { return a / b; }
template <class T> inline T ptx_rem(T a, T b) { return a % b; }
template <class T> inline T ptx_abs(T a) { return a < 0 ? -a : a; }
template <class T> inline T ptx_neg(T a) { return -a; }
template <class T> inline T ptx_min(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return std::fmin(a, b);
    else
        return b < a ? b : a;
}
template <class T> inline T ptx_max(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return std::fmax(a, b);
    else
        return a < b ? b : a;
}
template <class T> inline T ptx_and(T a, T b) { return a & b; }
template <class T> inline T ptx_or(T a, T b) { return a | b; }
template <class T> inline T ptx_xor(T a, T b) { return a ^ b; }
template <class T> inline T ptx_not(T a) { return static_cast<T>(~a); }
/* Counts beyond the width shift everything out. */
template <class T> inline T ptx_shl(T a, uint64_t by) { return by < 8 * sizeof(T) ? static_cast<T>(a << by) : 0; }
template <class T> inline T ptx_shr(T a, uint64_t by) {
    return by < 8 * sizeof(T) ? static_cast<T>(a >> by) : static_cast<T>(a < 0 ? -1 : 0);
}
template <class T> inline unsigned ptx_popc(T a) {
    return static_cast<unsigned>(__popcll(static_cast<std::make_unsigned_t<T>>(a)));
}
template <class T> inline unsigned ptx_clz(T a) {
    return a ? static_cast<unsigned>(__builtin_clzll(a)) - (64 - 8 * sizeof(T)) : 8 * sizeof(T);
}
template <class T> inline T ptx_brev(T a) {
    T result = 0;
    for (size_t i = 0; i < 8 * sizeof(T); i++)
        result |= static_cast<T>((a >> i & 1) << (8 * sizeof(T) - 1 - i));
    return result;
}
/* The place of the highest bit that is not the sign; all ones where there is none. */
template <class T> inline unsigned ptx_bfind(T a) {
    std::make_unsigned_t<T> bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    return bits ? 63u - static_cast<unsigned>(__builtin_clzll(bits)) : ~0u;
}
template <class T> inline T ptx_bfe(T a, uint64_t position, uint64_t length) {
    const unsigned top = 8 * sizeof(T) - 1, first = position & 0xff, count = length & 0xff;
    const unsigned last = first + count - 1 < top ? first + count - 1 : top;
    const bool sign = std::is_signed_v<T> && count && (a >> last & 1);
    T result = 0;
    for (unsigned i = 0; i <= top; i++) {
        bool bit = i < count && first + i <= top ? a >> (first + i) & 1 : sign;
        result = static_cast<T>(result | static_cast<T>(static_cast<T>(bit) << i));
    }
    return result;
}
template <class T> inline T ptx_bfi(T a, T b, uint64_t position, uint64_t length) {
    const unsigned first = position & 0xff, count = length & 0xff;
    for (unsigned i = 0; i < count && first + i < 8 * sizeof(T); i++)
        b = static_cast<T>((b & ~(T{1} << (first + i))) | ((a >> i & 1) << (first + i)));
    return b;
}
template <class T> inline T ptx_lop3(T a, T b, T c, uint64_t table) {
    T result = 0;
    for (size_t i = 0; i < 8 * sizeof(T); i++)
        result |= static_cast<T>(table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return result;
}
/* Each nibble of the selector takes a byte of b:a, or with its high bit that byte's sign. */
template <class T> inline T ptx_prmt(T a, T b, T selector) {
    const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    T result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = selector >> (4 * i) & 15;
        uint32_t byte = bytes >> (8 * (nibble & 7)) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}
/* Of four bytes each: the sum of the distances, and what it is added to. */
template <class T> inline T ptx_vabsdiff4(T a, T b, T sum) {
    for (unsigned i = 0; i < 32; i += 8) {
        const int x = a >> i & 0xff, y = b >> i & 0xff;
        sum += static_cast<T>(x < y ? y - x : x - y);
    }
    return sum;
}
template <class T> inline T ptx_ex2(T a) { return std::exp2(a); }
template <class T> inline T ptx_lg2(T a) { return std::log2(a); }
template <class T> inline T ptx_rcp(T a) { return 1 / a; }
template <class T> inline T ptx_sqrt(T a) { return std::sqrt(a); }
template <class T> inline T ptx_rsqrt(T a) { return 1 / std::sqrt(a); }
template <class T> inline T ptx_sin(T a) { return std::sin(a); }
template <class T> inline T ptx_cos(T a) { return std::cos(a); }
template <class T> inline T ptx_tanh(T a) { return std::tanh(a); }

} // namespace cudla_sim

#endif
