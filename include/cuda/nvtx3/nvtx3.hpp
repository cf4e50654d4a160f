/* SPDX-License-Identifier: Apache-2.0
 *
 * nvtx3/nvtx3.hpp - NVTX's C++ for a profiler that is not there: what programs say is taken and forgotten.
 */
#ifndef CUDLA_SIM_NVTX3_HPP
#define CUDLA_SIM_NVTX3_HPP

#include "nvToolsExt.h"

#if !defined(CUDLA_SIM_PARSE)

#include <cstddef>
#include <cstdint>
#include <string>

#define NVTX3_CPP_DEFINITIONS_V1_0
#define NVTX3_CPP_VERSION_MAJOR 1
#define NVTX3_CPP_VERSION_MINOR 0

namespace nvtx3 {
inline namespace v1 {

class domain {
  public:
    struct global {};

    /* Of a type with a `name`, the same object at each call. */
    template <class D = global> static const domain &get() noexcept {
        static const domain one;
        return one;
    }
    operator nvtxDomainHandle_t() const noexcept { return nullptr; }

    domain(const domain &) = delete;
    domain &operator=(const domain &) = delete;

  private:
    domain() = default;
};

struct rgb {
    using component_type = std::uint8_t;
    constexpr rgb(component_type r, component_type g, component_type b) noexcept : red(r), green(g), blue(b) {}
    component_type red, green, blue;
};

struct argb : rgb {
    constexpr argb(component_type a, component_type r, component_type g, component_type b) noexcept
        : rgb(r, g, b), alpha(a) {}
    component_type alpha;
};

class color {
  public:
    using value_type = std::uint32_t;
    constexpr explicit color(value_type hex) noexcept : value_(hex) {}
    constexpr color(argb c) noexcept : value_(of(c.alpha, c)) {}
    constexpr color(rgb c) noexcept : value_(of(0xff, c)) {}
    constexpr value_type get_value() const noexcept { return value_; }
    constexpr nvtxColorType_t get_type() const noexcept { return NVTX_COLOR_ARGB; }

  private:
    static constexpr value_type of(value_type alpha, const rgb &c) noexcept {
        return alpha << 24 | value_type{c.red} << 16 | value_type{c.green} << 8 | c.blue;
    }
    value_type value_;
};

class category {
  public:
    using id_type = std::uint32_t;
    constexpr explicit category(id_type id) noexcept : id_(id) {}
    constexpr id_type get_id() const noexcept { return id_; }

  private:
    id_type id_;
};

template <class D = domain::global> class named_category_in : public category {
  public:
    template <class Name> named_category_in(id_type id, const Name *) noexcept : category(id) {}
    template <class C> static const named_category_in &get() noexcept {
        static const named_category_in one(C::id, C::name);
        return one;
    }
};
using named_category = named_category_in<>;

template <class D = domain::global> class registered_string_in {
  public:
    template <class Text> explicit registered_string_in(const Text &) noexcept {}
    template <class M> static const registered_string_in &get() noexcept {
        static const registered_string_in one(M::message);
        return one;
    }
    nvtxStringHandle_t get_handle() const noexcept { return nullptr; }
};
using registered_string = registered_string_in<>;

class message {
  public:
    using value_type = nvtxMessageValue_t;
    constexpr message(const char *) noexcept {}
    constexpr message(const wchar_t *) noexcept {}
    message(const std::string &) noexcept {}
    message(const std::wstring &) noexcept {}
    template <class D> message(const registered_string_in<D> &) noexcept {}
};

class payload {
  public:
    template <class T> constexpr explicit payload(T) noexcept {}
};

class event_attributes {
  public:
    using value_type = nvtxEventAttributes_t;
    /* In any order, each kind once. */
    template <class... Said> event_attributes(const Said &...) noexcept {}
    const value_type *get() const noexcept { return &attributes_; }

  private:
    value_type attributes_{};
};

template <class D = domain::global> class scoped_range_in {
  public:
    template <class... Said> explicit scoped_range_in(const Said &...) noexcept {}
    ~scoped_range_in() noexcept {} /* not trivial: a range that is only there is no unused variable */
    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
};
using scoped_range = scoped_range_in<>;

template <class D = domain::global> class optional_scoped_range_in {
  public:
    optional_scoped_range_in() = default;
    ~optional_scoped_range_in() noexcept {}
    template <class... Said> void begin(const Said &...) noexcept {}
    optional_scoped_range_in(const optional_scoped_range_in &) = delete;
    optional_scoped_range_in &operator=(const optional_scoped_range_in &) = delete;
};
using optional_scoped_range = optional_scoped_range_in<>;

struct range_handle {
    using value_type = nvtxRangeId_t;
    constexpr explicit range_handle(value_type id = 0) noexcept : id_(id) {}
    constexpr explicit operator bool() const noexcept { return id_ != 0; }
    constexpr value_type get_value() const noexcept { return id_; }

  private:
    value_type id_;
};

template <class D = domain::global, class... Said> range_handle start_range_in(const Said &...) noexcept {
    return range_handle{};
}
template <class... Said> range_handle start_range(const Said &...) noexcept { return range_handle{}; }
template <class D = domain::global> void end_range_in(range_handle) noexcept {}
inline void end_range(range_handle) noexcept {}

template <class D = domain::global> class unique_range_in {
  public:
    template <class... Said> explicit unique_range_in(const Said &...) noexcept {}
    ~unique_range_in() noexcept {}
    unique_range_in(unique_range_in &&) noexcept {}
    unique_range_in &operator=(unique_range_in &&) noexcept { return *this; }
    unique_range_in(const unique_range_in &) = delete;
    unique_range_in &operator=(const unique_range_in &) = delete;
};
using unique_range = unique_range_in<>;

template <class D = domain::global, class... Said> void mark_in(const Said &...) noexcept {}
template <class... Said> void mark(const Said &...) noexcept {}

} // namespace v1
} // namespace nvtx3

#define NVTX3_FUNC_RANGE_IN(D) ::nvtx3::scoped_range_in<D> const cudla_sim_nvtx3_range{__func__}
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#define NVTX3_FUNC_RANGE_IF_IN(D, C)                                                               \
    ::nvtx3::optional_scoped_range_in<D> cudla_sim_nvtx3_range_if;                                    \
    if (C)                                                                                         \
    cudla_sim_nvtx3_range_if.begin(__func__)
#define NVTX3_FUNC_RANGE_IF(C) NVTX3_FUNC_RANGE_IF_IN(::nvtx3::domain::global, C)

#endif /* !CUDLA_SIM_PARSE */

#endif
