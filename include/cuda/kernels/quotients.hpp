/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/quotients.hpp - <cuda/cmath> (libcu++, "Extended API", "Math").
 */
#ifndef CUDLA_SIM_KERNELS_QUOTIENTS_H
#define CUDLA_SIM_KERNELS_QUOTIENTS_H

#include <type_traits>

#include "standard.hpp"

namespace cuda {

/* The type of a / b, without a sum that could overflow: at least 0 divided by at least 1. */
template <class T, class U> constexpr ::std::common_type_t<T, U> ceil_div(T a, U b) noexcept {
    using Common = ::std::common_type_t<T, U>;
    const Common of = static_cast<Common>(a), by = static_cast<Common>(b);
    return static_cast<Common>(of / by + (of % by != 0));
}
template <class T, class U> constexpr ::std::common_type_t<T, U> round_up(T a, U b) noexcept {
    return static_cast<::std::common_type_t<T, U>>(ceil_div(a, b) * b);
}
template <class T, class U> constexpr ::std::common_type_t<T, U> round_down(T a, U b) noexcept {
    using Common = ::std::common_type_t<T, U>;
    return static_cast<Common>(static_cast<Common>(a) / static_cast<Common>(b) * static_cast<Common>(b));
}

/* Of numbers above 0. */
template <class T> constexpr int ilog2(T of) noexcept {
    return 63 - __builtin_clzll(static_cast<unsigned long long>(of));
}
template <class T> constexpr int ilog10(T of) noexcept {
    int found = 0;
    for (auto rest = static_cast<unsigned long long>(of); rest >= 10; rest /= 10)
        found++;
    return found;
}
template <class T> constexpr bool is_power_of_two(T of) noexcept { return (of & (of - 1)) == 0; }

} // namespace cuda

#endif
