/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/span.hpp - cuda::std has C++20's <span> in every standard (libcu++, "Standard API").
 */
#ifndef CUDLA_SIM_KERNELS_SPAN_H
#define CUDLA_SIM_KERNELS_SPAN_H

#include "standard.hpp"

#if __cplusplus >= 202002L
#include <span>
#else
#include <array>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace cuda {
namespace std {

constexpr size_t dynamic_extent = static_cast<size_t>(-1);

template <class T, size_t Extent = dynamic_extent> class span {
    template <class From> using Takes = ::std::enable_if_t<::std::is_convertible<From (*)[], T (*)[]>::value>;
    template <size_t Other>
    using Fits = ::std::enable_if_t<Extent == dynamic_extent || Other == dynamic_extent || Other == Extent>;
    template <class C> using DataOf = ::std::remove_pointer_t<decltype(::std::data(::std::declval<C &>()))>;

  public:
    using element_type = T;
    using value_type = ::std::remove_cv_t<T>;
    using size_type = size_t;
    using difference_type = ptrdiff_t;
    using pointer = T *;
    using const_pointer = const T *;
    using reference = T &;
    using const_reference = const T &;
    using iterator = T *;
    using reverse_iterator = ::std::reverse_iterator<iterator>;
    static constexpr size_t extent = Extent;

    template <size_t E = Extent, class = ::std::enable_if_t<E == 0 || E == dynamic_extent>>
    constexpr span() noexcept {}
    constexpr span(T *data, size_t size) : data_(data), size_(size) {}
    constexpr span(T *first, T *last) : data_(first), size_(static_cast<size_t>(last - first)) {}
    template <size_t N, class = Fits<N>> constexpr span(T (&of)[N]) noexcept : data_(of), size_(N) {}
    template <class From, size_t N, class = Takes<From>, class = Fits<N>>
    constexpr span(::std::array<From, N> &of) noexcept : data_(of.data()), size_(N) {}
    template <class From, size_t N, class = Takes<const From>, class = Fits<N>>
    constexpr span(const ::std::array<From, N> &of) noexcept : data_(of.data()), size_(N) {}
    template <class From, size_t N, class = Takes<From>, class = Fits<N>>
    constexpr span(const span<From, N> &of) noexcept : data_(of.data()), size_(of.size()) {}
    template <class C, class = Takes<DataOf<C>>, class = decltype(::std::size(::std::declval<C &>())),
              class = ::std::enable_if_t<!::std::is_array<C>::value>>
    constexpr span(C &of) : data_(::std::data(of)), size_(::std::size(of)) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr size_t size() const noexcept { return size_; }
    constexpr size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T &operator[](size_t at) const { return data_[at]; }
    constexpr T &front() const { return data_[0]; }
    constexpr T &back() const { return data_[size_ - 1]; }
    constexpr iterator begin() const noexcept { return data_; }
    constexpr iterator end() const noexcept { return data_ + size_; }
    constexpr reverse_iterator rbegin() const noexcept { return reverse_iterator(end()); }
    constexpr reverse_iterator rend() const noexcept { return reverse_iterator(begin()); }

    constexpr span<T> first(size_t count) const { return {data_, count}; }
    constexpr span<T> last(size_t count) const { return {data_ + (size_ - count), count}; }
    constexpr span<T> subspan(size_t at, size_t count = dynamic_extent) const {
        return {data_ + at, count == dynamic_extent ? size_ - at : count};
    }
    template <size_t Count> constexpr span<T, Count> first() const { return {data_, Count}; }
    template <size_t Count> constexpr span<T, Count> last() const { return {data_ + (size_ - Count), Count}; }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

template <class T, size_t N> span(T (&)[N]) -> span<T, N>;
template <class T, size_t N> span(::std::array<T, N> &) -> span<T, N>;
template <class T, size_t N> span(const ::std::array<T, N> &) -> span<const T, N>;
template <class T> span(T *, size_t) -> span<T>;
template <class C> span(C &) -> span<::std::remove_pointer_t<decltype(::std::data(::std::declval<C &>()))>>;

} // namespace std
} // namespace cuda
#endif

#endif
