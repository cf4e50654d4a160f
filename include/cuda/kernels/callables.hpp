/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/callables.hpp - <cuda/functional> (libcu++, "Extended API", "Functional").
 */
#ifndef CUDLA_SIM_KERNELS_CALLABLES_H
#define CUDLA_SIM_KERNELS_CALLABLES_H

#include <functional>
#include <type_traits>
#include <utility>

#include "standard.hpp"

namespace cuda {

/* A function whose result is known to be R: for nvcc, which cannot ask an extended lambda. */
template <class R, class Function> struct Proclaimed {
    Function function;
    template <class... A> constexpr R operator()(A &&...given) { return function(std::forward<A>(given)...); }
    template <class... A> constexpr R operator()(A &&...given) const { return function(std::forward<A>(given)...); }
};
template <class R, class Function> constexpr Proclaimed<R, std::decay_t<Function>> proclaim_return_type(Function &&of) {
    return {std::forward<Function>(of)};
}
/* It does not look at where its arguments lie. */
template <class Function> constexpr std::decay_t<Function> proclaim_copyable_arguments(Function &&of) {
    return std::forward<Function>(of);
}

template <class T = void> struct maximum {
    constexpr T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
template <> struct maximum<void> {
    template <class T, class U> constexpr std::common_type_t<T, U> operator()(const T &a, const U &b) const {
        return a < b ? b : a;
    }
};
template <class T = void> struct minimum {
    constexpr T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
template <> struct minimum<void> {
    template <class T, class U> constexpr std::common_type_t<T, U> operator()(const T &a, const U &b) const {
        return b < a ? b : a;
    }
};

} // namespace cuda

#endif
