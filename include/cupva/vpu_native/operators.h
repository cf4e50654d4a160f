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
template <typename R, typename N> inline PVA_ALWAYS R spread(N value)
{
    R result{};
    if constexpr (traits<R>::is_split) {
        result.lo = spread<typename traits<R>::half>(value);
        result.hi = result.lo;
    } else if constexpr (traits<R>::kind == floating) {
        result.v = result.v + (float)value;
    } else {
        result.v = result.v + element<R>(value);
    }
    return result;
}

/* An operand as a register. */
template <typename R, typename T> inline PVA_ALWAYS R as(const T &value)
{
    if constexpr (is_vector<T>)
        return value;
    else
        return spread<R>(value);
}

/* x * y. The right operand is brought down: that is where programs have their constants. */
template <typename S> inline PVA_ALWAYS S times(const S &x, const S &y)
{
    S r;
    if constexpr (traits<S>::kind == floating)
        r.v = x.v * y.v;
    else
        r.v = x.v * (y.v >> traits<S>::up);
    return r;
}

template <typename S> inline PVA_ALWAYS S shifted_left(const S &x, const S &count)
{
    S r;
    r.v = x.v << (count.v >> traits<S>::up);
    return r;
}

/* Arithmetic; the bits that leave the lane are cleared. */
template <typename S> inline PVA_ALWAYS S shifted_right(const S &x, const S &count)
{
    typedef typename traits<S>::element E;
    S r;
    r.v = x.v >> (count.v >> traits<S>::up) & (E)((uint64_t)-1 << traits<S>::up);
    return r;
}

/* Applies `f` to the vectors of one, two or three operands. */
template <typename F, typename R> inline PVA_ALWAYS R each(F f, const R &a)
{
    if constexpr (traits<R>::is_split)
        return R{each(f, a.lo), each(f, a.hi)};
    else
        return f(a);
}
template <typename F, typename R> inline PVA_ALWAYS R each(F f, const R &a, const R &b)
{
    if constexpr (traits<R>::is_split)
        return R{each(f, a.lo, b.lo), each(f, a.hi, b.hi)};
    else
        return f(a, b);
}
template <typename F, typename R> inline PVA_ALWAYS R each(F f, const R &a, const R &b, const R &c)
{
    if constexpr (traits<R>::is_split)
        return R{each(f, a.lo, b.lo, c.lo), each(f, a.hi, b.hi, c.hi)};
    else
        return f(a, b, c);
}

/* The masks of the compiler's vectors (0, -1) as lanes (0, 1). */
template <typename S, typename M> inline PVA_ALWAYS S flags(const M &mask)
{
    S result{};
    for (int i = 0; i < traits<S>::lanes && traits<S>::kind == floating; i++)
        result.v[i] = mask[i] ? 1 : 0;
    if constexpr (traits<S>::kind != floating)
        result.v = (typename traits<S>::vector_t)(mask & element<S>(1));
    return result;
}

} // namespace pva

#define PVA_BINARY(op, expression)                                                          \
    template <typename A, typename B> inline PVA_ALWAYS pva::result_of<A, B> operator op(const A &a, const B &b) \
    {                                                                                       \
        typedef pva::result_of<A, B> R;                                                     \
        return pva::each(                                                                \
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

PVA_BINARY(+, r.v = x.v + y.v);
PVA_BINARY(-, r.v = x.v - y.v);
PVA_BINARY(*, r = pva::times(x, y));
PVA_BINARY(&, r.v = x.v & y.v);
PVA_BINARY(|, r.v = x.v | y.v);
PVA_BINARY(^, r.v = x.v ^ y.v);
PVA_BINARY(<<, r = pva::shifted_left(x, y));
PVA_BINARY(>>, r = pva::shifted_right(x, y));
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

template <typename A> inline PVA_ALWAYS pva::same_as<A> operator~(const A &a)
{
    return a ^ -1;
}
template <typename A> inline PVA_ALWAYS pva::same_as<A> operator!(const A &a)
{
    return a == 0;
}
template <typename A> inline PVA_ALWAYS pva::same_as<A> operator-(const A &a)
{
    return 0 - a;
}

#endif
