/*
 * Operators on vectors, lane by lane: + - * & | ^ ~ << >> and their assignments, comparisons, which
 * give 1 or 0 in each lane, and && || ! on lanes that are or are not 0. A number stands for a vector
 * of it. Both operands have the same register type; memory vectors become registers.
 */
#ifndef VPU_NATIVE_OPERATORS_H
#define VPU_NATIVE_OPERATORS_H

#include <type_traits>

#include "lanes.h"

namespace pva {

template <typename T> constexpr bool is_vector = traits<std::decay_t<T>>::kind != none;
template <typename T> constexpr bool is_float = traits<std::decay_t<T>>::kind == floating;
template <typename T> constexpr bool is_number = std::is_arithmetic_v<std::decay_t<T>> || std::is_enum_v<std::decay_t<T>>;

template <typename T, bool = is_vector<T>> struct register_of {
    typedef void type;
};
template <typename T> struct register_of<T, true> {
    typedef typename traits<std::decay_t<T>>::self type;
};

/* The register type of an operation, when there is one. */
template <typename A, typename B> struct operation {
    typedef typename register_of<A>::type a;
    typedef typename register_of<B>::type b;
    static constexpr bool valid = (is_vector<A> && is_vector<B> && std::is_same_v<a, b>)
        || (is_vector<A> && is_number<B>) || (is_number<A> && is_vector<B>);
    typedef std::conditional_t<is_vector<A>, a, b> type;
};
template <typename A, typename B> using result_of = std::enable_if_t<operation<A, B>::valid, typename operation<A, B>::type>;
template <typename A> using same_as = std::enable_if_t<is_vector<A>, typename register_of<A>::type>;

/* A vector with `value` in each lane. */
template <typename R, typename N> inline R spread(N value)
{
    R result{};
    if constexpr (traits<R>::is_double) {
        result.lo = spread<typename traits<R>::half>(value);
        result.hi = result.lo;
    } else if constexpr (traits<R>::kind == floating) {
        result.v = result.v + (float)value;
    } else {
        constexpr int unused = 64 - traits<R>::bits;
        typename traits<R>::element wrapped = (typename traits<R>::element)(
            (int64_t)((uint64_t)(int64_t)value << unused) >> unused);
        result.v = result.v + wrapped;
    }
    return result;
}

/* An operand as a register. */
template <typename R, typename T> inline R as(const T &value)
{
    if constexpr (is_vector<T>)
        return value;
    else
        return spread<R>(value);
}

template <typename R> inline R wrapped(R x)
{
    if constexpr (traits<R>::kind != floating)
        x.v = wrapping<typename traits<R>::vector_t, traits<R>::bits>::apply(x.v);
    return x;
}

/* Applies `f` to the registers of one, two or three operands. */
template <typename R, typename F> inline R each(F f, const R &a)
{
    if constexpr (traits<R>::is_double)
        return R{f(a.lo), f(a.hi)};
    else
        return f(a);
}
template <typename R, typename F> inline R each(F f, const R &a, const R &b)
{
    if constexpr (traits<R>::is_double)
        return R{f(a.lo, b.lo), f(a.hi, b.hi)};
    else
        return f(a, b);
}
template <typename R, typename F> inline R each(F f, const R &a, const R &b, const R &c)
{
    if constexpr (traits<R>::is_double)
        return R{f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi)};
    else
        return f(a, b, c);
}

/* The masks of the compiler's vectors (0, -1) as lanes (0, 1). */
template <typename S, typename M> inline S flags(const M &mask)
{
    S result{};
    for (int i = 0; i < traits<S>::lanes && traits<S>::kind == floating; i++)
        result.v[i] = mask[i] ? 1 : 0;
    if constexpr (traits<S>::kind != floating)
        result.v = (typename traits<S>::vector_t)(mask & 1);
    return result;
}

} // namespace pva

#define PVA_BINARY(op, expression)                                                          \
    template <typename A, typename B> inline pva::result_of<A, B> operator op(const A &a, const B &b) \
    {                                                                                       \
        typedef pva::result_of<A, B> R;                                                     \
        return pva::each<R>(                                                                \
            [](auto x, auto y) {                                                            \
                typedef decltype(x) S;                                                      \
                S r;                                                                        \
                expression;                                                                 \
                return r;                                                                   \
            },                                                                              \
            pva::as<R>(a), pva::as<R>(b));                                                  \
    }                                                                                       \
    static_assert(true, "")
#define PVA_ASSIGN(op)                                                                      \
    template <typename A, typename B>                                                       \
    inline std::enable_if_t<pva::is_vector<A> && pva::operation<A, B>::valid, A &> operator op##=(A &a, const B &b) \
    {                                                                                       \
        a = a op b;                                                                         \
        return a;                                                                           \
    }                                                                                       \
    static_assert(true, "")

PVA_BINARY(+, r.v = x.v + y.v; r = pva::wrapped(r));
PVA_BINARY(-, r.v = x.v - y.v; r = pva::wrapped(r));
PVA_BINARY(*, r.v = x.v * y.v; r = pva::wrapped(r));
PVA_BINARY(&, r.v = x.v & y.v);
PVA_BINARY(|, r.v = x.v | y.v);
PVA_BINARY(^, r.v = x.v ^ y.v);
PVA_BINARY(<<, r.v = x.v << y.v; r = pva::wrapped(r));
PVA_BINARY(>>, r.v = x.v >> y.v);
PVA_BINARY(==, r = pva::flags<S>(x.v == y.v));
PVA_BINARY(!=, r = pva::flags<S>(x.v != y.v));
PVA_BINARY(<, r = pva::flags<S>(x.v < y.v));
PVA_BINARY(<=, r = pva::flags<S>(x.v <= y.v));
PVA_BINARY(>, r = pva::flags<S>(x.v > y.v));
PVA_BINARY(>=, r = pva::flags<S>(x.v >= y.v));
PVA_BINARY(&&, r = pva::flags<S>((x.v != 0) & (y.v != 0)));
PVA_BINARY(||, r = pva::flags<S>((x.v != 0) | (y.v != 0)));
PVA_ASSIGN(+);
PVA_ASSIGN(-);
PVA_ASSIGN(*);
PVA_ASSIGN(&);
PVA_ASSIGN(|);
PVA_ASSIGN(^);
PVA_ASSIGN(<<);
PVA_ASSIGN(>>);
#undef PVA_BINARY
#undef PVA_ASSIGN

template <typename A> inline pva::same_as<A> operator~(const A &a)
{
    return a ^ -1;
}
template <typename A> inline pva::same_as<A> operator!(const A &a)
{
    return a == 0;
}
template <typename A> inline pva::same_as<A> operator-(const A &a)
{
    return 0 - a;
}

#endif
