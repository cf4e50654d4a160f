/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/bits.hpp - cuda::std has C++20's <bit> in every standard (libcu++, "Standard API").
 */
#ifndef CUDLA_SIM_KERNELS_BITS_H
#define CUDLA_SIM_KERNELS_BITS_H

#include "standard.hpp"

#if __cplusplus >= 202002L
#include <bit>
#else
#include <limits>
#include <type_traits>

namespace cuda {
namespace std {

enum class endian { little = __ORDER_LITTLE_ENDIAN__, big = __ORDER_BIG_ENDIAN__, native = __BYTE_ORDER__ };

template <class To, class From> constexpr To bit_cast(const From &from) noexcept {
    static_assert(sizeof(To) == sizeof(From), "both have the same size");
    return __builtin_bit_cast(To, from);
}

/* Of unsigned numbers only, as the standard has them. */
template <class T, class Result = T>
using OfUnsigned = ::std::enable_if_t<::std::is_unsigned<T>::value && !::std::is_same<T, bool>::value, Result>;

template <class T> constexpr OfUnsigned<T, int> popcount(T of) noexcept { return __builtin_popcountll(of); }
template <class T> constexpr OfUnsigned<T, int> countl_zero(T of) noexcept {
    return of ? __builtin_clzll(of) - (64 - ::std::numeric_limits<T>::digits) : ::std::numeric_limits<T>::digits;
}
template <class T> constexpr OfUnsigned<T, int> countr_zero(T of) noexcept {
    return of ? __builtin_ctzll(of) : ::std::numeric_limits<T>::digits;
}
template <class T> constexpr OfUnsigned<T, int> countl_one(T of) noexcept { return countl_zero(static_cast<T>(~of)); }
template <class T> constexpr OfUnsigned<T, int> countr_one(T of) noexcept { return countr_zero(static_cast<T>(~of)); }
template <class T> constexpr OfUnsigned<T, int> bit_width(T of) noexcept {
    return ::std::numeric_limits<T>::digits - countl_zero(of);
}
template <class T> constexpr OfUnsigned<T, bool> has_single_bit(T of) noexcept { return of && !(of & (of - 1)); }
template <class T> constexpr OfUnsigned<T> bit_floor(T of) noexcept {
    return of ? static_cast<T>(T(1) << (bit_width(of) - 1)) : T(0);
}
template <class T> constexpr OfUnsigned<T> bit_ceil(T of) noexcept {
    return of <= 1 ? T(1) : static_cast<T>(T(1) << bit_width(static_cast<T>(of - 1)));
}
template <class T> constexpr OfUnsigned<T> rotl(T of, int by) noexcept {
    constexpr int digits = ::std::numeric_limits<T>::digits;
    const int left = (by % digits + digits) % digits;
    return left ? static_cast<T>(of << left | of >> (digits - left)) : of;
}
template <class T> constexpr OfUnsigned<T> rotr(T of, int by) noexcept {
    return rotl(of, -(by % ::std::numeric_limits<T>::digits));
}

} // namespace std
} // namespace cuda
#endif

#endif
