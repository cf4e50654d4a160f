/*
 * Intrinsics with names: selection, minima, absolute values, multiplication with rounding, changes of
 * width. Names with `dv` work on double vectors, the same names with `v` on single ones; both are
 * overloads here, and numbers stand for vectors of them.
 */
#ifndef VPU_NATIVE_INTRINSICS_H
#define VPU_NATIVE_INTRINSICS_H

#include <string.h>

#include "operators.h"

/*
 * How the product of a multiplication is brought back to a lane: shifted right by n, with VPU_ROUND_n
 * after half of what is shifted out was added, with VPU_TRUNC_n without. The result wraps.
 */
#define VPU_TRUNC_FLAG 0x100
#define PVA_ROUNDINGS(n) VPU_ROUND_##n = n, VPU_TRUNC_##n = n | VPU_TRUNC_FLAG
enum {
    PVA_ROUNDINGS(0), PVA_ROUNDINGS(1), PVA_ROUNDINGS(2), PVA_ROUNDINGS(3), PVA_ROUNDINGS(4),
    PVA_ROUNDINGS(5), PVA_ROUNDINGS(6), PVA_ROUNDINGS(7), PVA_ROUNDINGS(8), PVA_ROUNDINGS(9),
    PVA_ROUNDINGS(10), PVA_ROUNDINGS(11), PVA_ROUNDINGS(12), PVA_ROUNDINGS(13), PVA_ROUNDINGS(14),
    PVA_ROUNDINGS(15), PVA_ROUNDINGS(16), PVA_ROUNDINGS(17), PVA_ROUNDINGS(18), PVA_ROUNDINGS(19),
    PVA_ROUNDINGS(20), PVA_ROUNDINGS(21), PVA_ROUNDINGS(22), PVA_ROUNDINGS(23)
};
#undef PVA_ROUNDINGS

namespace pva {

/* A lane's element with room for a product. */
template <typename E> struct wider;
template <> struct wider<int16_t> {
    typedef int32_t type;
};
template <> struct wider<int32_t> {
    typedef int64_t type;
};

/* x * y, shifted. */
template <typename S> inline PVA_ALWAYS S product(const S &x, const S &y, int how)
{
    typedef typename traits<S>::element E;
    constexpr int up = traits<S>::up;
    const int shift = how & 0x3f;
    const bool rounds = shift && !(how & VPU_TRUNC_FLAG);
    const uint64_t half = rounds ? 1ull << (shift - 1) : 0;
    if (shift == 0)
        return times(x, y);
    S result;
    const auto a = x.v >> up, b = y.v >> up;
    if (shift <= up) { /* what a lane keeps fits its element */
        result.v = (a * b + (E)half) >> (E)shift << (E)up;
    } else if constexpr (sizeof(E) < 8) {
        typedef typename wider<E>::type W;
        typedef W wide_t __attribute__((vector_size(traits<S>::lanes * sizeof(W))));
        wide_t wide = __builtin_convertvector(a, wide_t) * __builtin_convertvector(b, wide_t);
        wide = (wide + (W)half) >> (W)shift;
        result.v = __builtin_convertvector(wide, typename traits<S>::vector_t) << (E)up;
    } else {
        for (int i = 0; i < traits<S>::lanes; i++) {
            __int128 wide = (__int128)a[i] * b[i];
            result.v[i] = (E)((wide + half) >> shift) << up;
        }
    }
    return result;
}

template <typename S> inline PVA_ALWAYS S distance(const S &x, const S &y)
{
    S r;
    if constexpr (traits<S>::kind == floating)
        r.v = x.v > y.v ? x.v - y.v : y.v - x.v;
    else /* two instructions of most machines, and the difference */
        r.v = (x.v > y.v ? x.v : y.v) - (x.v < y.v ? x.v : y.v);
    return r;
}

/* The lanes of `sum` whose bit is set, 0 in the others. */
template <typename S> inline PVA_ALWAYS S chosen(const S &sum, uint64_t bits)
{
    typedef typename traits<S>::element E;
    constexpr uint64_t all = ~0ull >> (64 - traits<S>::lanes);
    if ((bits & all) == all)
        return sum;
    typename traits<S>::vector_t mask = {};
    for (int i = 0; (bits & all) && i < traits<S>::lanes; i++)
        mask[i] = -(E)(bits >> i & 1);
    return S{sum.v & mask};
}

template <typename S>
inline PVA_ALWAYS S multiply_single(const S &x, const S &y, const S &sum, int how, uint64_t bits, int sign)
{
    S result;
    if (sign < 0)
        result.v = chosen(sum, bits).v - product(x, y, how).v;
    else
        result.v = chosen(sum, bits).v + product(x, y, how).v;
    return result;
}

template <typename R>
inline PVA_ALWAYS R multiply_all(const R &x, const R &y, const R &sum, int how, uint64_t bits, int sign)
{
    if constexpr (traits<R>::is_split) {
        R result;
        result.lo = multiply_all(x.lo, y.lo, sum.lo, how, bits, sign);
        result.hi = multiply_all(x.hi, y.hi, sum.hi, how, bits >> traits<R>::lanes / 2, sign);
        return result;
    } else {
        return multiply_single(x, y, sum, how, bits, sign);
    }
}

/* a * b, shifted, plus the accumulator in the lanes whose bit of `predicate` is set. */
template <typename R, typename A, typename B, typename C>
inline PVA_ALWAYS R multiply(const A &a, const B &b, const C &sum, int how, uint64_t predicate, int sign)
{
    static_assert(traits<R>::kind != floating, "products that are shifted are of integers");
    return multiply_all<R>(as<R>(a), as<R>(b), as<R>(sum), how, predicate, sign);
}

} // namespace pva

/* --- selection and comparison --- */

#define PVA_PAIR(name, expression)                                                          \
    template <typename A, typename B> PVA_INLINE pva::result_of<A, B> dv##name(const A &a, const B &b) \
    {                                                                                       \
        typedef pva::result_of<A, B> R;                                                     \
        return pva::each(                                                                \
            [](auto x, auto y) {                                                            \
                decltype(x) r;                                                              \
                expression;                                                                 \
                return r;                                                                   \
            },                                                                              \
            pva::as<R>(a), pva::as<R>(b));                                                  \
    }                                                                                       \
    template <typename A, typename B> PVA_INLINE pva::result_of<A, B> v##name(const A &a, const B &b) \
    {                                                                                       \
        return dv##name(a, b);                                                              \
    }                                                                                       \
    static_assert(true, "")

PVA_PAIR(min, r.v = x.v < y.v ? x.v : y.v);
PVA_PAIR(max, r.v = x.v > y.v ? x.v : y.v);
/* |a - b|; the difference is wider than a lane, the result wraps. */
PVA_PAIR(absdif, r = pva::distance(x, y));
PVA_PAIR(add, r.v = x.v + y.v);
PVA_PAIR(sub, r.v = x.v - y.v);
PVA_PAIR(and, r.v = x.v & y.v);
PVA_PAIR(or, r.v = x.v | y.v);
PVA_PAIR(xor, r.v = x.v ^ y.v);
/* Arithmetic shifts. */
PVA_PAIR(sra, r = pva::shifted_right(x, y));
PVA_PAIR(sll, r = pva::shifted_left(x, y));
#undef PVA_PAIR

/* The lesser and the greater one of two numbers, or of each lane. */
template <typename A, typename B, typename = std::enable_if_t<pva::is_number<A> && pva::is_number<B>>>
static constexpr inline std::common_type_t<A, B> min(const A &a, const B &b)
{
    typedef std::common_type_t<A, B> T;
    return (T)b < (T)a ? (T)b : (T)a;
}
template <typename A, typename B, typename = std::enable_if_t<pva::is_number<A> && pva::is_number<B>>>
static constexpr inline std::common_type_t<A, B> max(const A &a, const B &b)
{
    typedef std::common_type_t<A, B> T;
    return (T)a < (T)b ? (T)b : (T)a;
}
template <typename A, typename B> PVA_INLINE pva::result_of<A, B> min(const A &a, const B &b)
{
    return dvmin(a, b);
}
template <typename A, typename B> PVA_INLINE pva::result_of<A, B> max(const A &a, const B &b)
{
    return dvmax(a, b);
}

/* a + b + c; wraps once. */
template <typename A, typename B, typename C>
PVA_INLINE pva::result_of<pva::result_of<A, B>, C> dvadd3(const A &a, const B &b, const C &c)
{
    return dvadd(dvadd(a, b), c);
}
template <typename A, typename B, typename C>
PVA_INLINE pva::result_of<pva::result_of<A, B>, C> vadd3(const A &a, const B &b, const C &c)
{
    return dvadd3(a, b, c);
}

/* a in the lanes where the condition is not 0, b in the others. */
template <typename C, typename A, typename B>
PVA_INLINE pva::same_as<C> dvmux(const C &condition, const A &a, const B &b)
{
    typedef pva::same_as<C> R;
    return pva::each(
        [](auto c, auto x, auto y) {
            decltype(x) r;
            r.v = c.v != 0 ? x.v : y.v;
            return r;
        },
        pva::as<R>(condition), pva::as<R>(a), pva::as<R>(b));
}
template <typename C, typename A, typename B>
PVA_INLINE pva::same_as<C> vmux(const C &condition, const A &a, const B &b)
{
    return dvmux(condition, a, b);
}

template <typename A> PVA_INLINE pva::same_as<A> dvabs(const A &a)
{
    return dvabsdif(a, 0);
}
template <typename A> PVA_INLINE pva::same_as<A> vabs(const A &a)
{
    return dvabsdif(a, 0);
}

/* Between low and high, both included. */
template <typename A, typename L, typename H>
PVA_INLINE pva::same_as<A> dvclamp(const A &a, const L &low, const H &high)
{
    return dvmin(dvmax(a, low), high);
}
template <typename A, typename L, typename H>
PVA_INLINE pva::same_as<A> vclamp(const A &a, const L &low, const H &high)
{
    return dvclamp(a, low, high);
}

/* --- multiplication --- */

template <typename A, typename B>
PVA_INLINE pva::result_of<A, B> dvmulh(const A &a, const B &b, int how = VPU_ROUND_0)
{
    return pva::multiply<pva::result_of<A, B>>(a, b, 0, how, 0, 1);
}
template <typename A, typename B>
PVA_INLINE pva::result_of<A, B> vmulh(const A &a, const B &b, int how = VPU_ROUND_0)
{
    return dvmulh(a, b, how);
}

/* a * b + sum. Lanes whose bit of `predicate` is 0 start from 0 instead of the sum. */
template <typename A, typename B, typename C>
PVA_INLINE pva::result_of<A, B> dvmaddh(const A &a, const B &b, const C &sum, int how = VPU_ROUND_0,
                                           uint64_t predicate = ~0ull)
{
    return pva::multiply<pva::result_of<A, B>>(a, b, sum, how, predicate, 1);
}
template <typename A, typename B, typename C>
PVA_INLINE pva::result_of<A, B> vmaddh(const A &a, const B &b, const C &sum, int how = VPU_ROUND_0,
                                          uint64_t predicate = ~0ull)
{
    return dvmaddh(a, b, sum, how, predicate);
}
/* sum - a * b, likewise. */
template <typename A, typename B, typename C>
PVA_INLINE pva::result_of<A, B> dvmsubh(const A &a, const B &b, const C &sum, int how = VPU_ROUND_0,
                                           uint64_t predicate = ~0ull)
{
    return pva::multiply<pva::result_of<A, B>>(a, b, sum, how, predicate, -1);
}
template <typename A, typename B, typename C>
PVA_INLINE pva::result_of<A, B> vmsubh(const A &a, const B &b, const C &sum, int how = VPU_ROUND_0,
                                          uint64_t predicate = ~0ull)
{
    return dvmsubh(a, b, sum, how, predicate);
}

/* --- numbers to vectors and back --- */

PVA_INLINE vcharx replicateb(int32_t value)
{
    return pva::spread<vcharx>(value);
}
PVA_INLINE vshortx replicateh(int32_t value)
{
    return pva::spread<vshortx>(value);
}
PVA_INLINE vintx replicatew(int64_t value)
{
    return pva::spread<vintx>(value);
}
PVA_INLINE vfloat replicatef(float value)
{
    return pva::spread<vfloat>(value);
}

/* Lane i of a vector. */
template <typename A> PVA_INLINE auto extract(const A &a, int i) -> typename pva::traits<pva::same_as<A>>::element
{
    pva::same_as<A> value = a;
    return pva::lane(value, i);
}

/* The sum of all lanes, as a number. */
template <typename A> PVA_INLINE auto vsumr_s(const A &a) -> std::enable_if_t<pva::is_vector<A>, int32_t>
{
    pva::same_as<A> value = a;
    int64_t total = 0;
    for (int i = 0; i < pva::traits<A>::lanes; i++)
        total += pva::lane(value, i);
    return (int32_t)total;
}

/* --- predicates for flattened loops: one bit a lane, all set or none --- */

/* Counts 0 to `last` and starts over; the predicate is set when it did. */
PVA_INLINE int32_t mod_inc_pred_z(int32_t count, int32_t last, int32_t &predicate)
{
    count = count == last ? 0 : count + 1;
    predicate = count == 0 ? -1 : 0;
    return count;
}

/* The same with the opposite predicate. */
PVA_INLINE int32_t mod_inc_pred_nz(int32_t count, int32_t last, int32_t &predicate)
{
    count = count == last ? 0 : count + 1;
    predicate = count == 0 ? 0 : -1;
    return count;
}

/* --- other widths: the same number of lanes, narrower or wider; narrowing wraps --- */

namespace pva {

/* Half a register of narrow lanes as a register of wide ones, `further` up, and back, `less` up. */
template <typename H, typename N> inline PVA_ALWAYS H widened_half(const N &narrow, int further)
{
    if constexpr (traits<H>::is_split) {
        typedef typename traits<H>::half P;
        typedef std::decay_t<decltype(narrow[0])> E;
        typedef E part_t __attribute__((vector_size(sizeof(N) / 2)));
        part_t lo, hi;
        memcpy(&lo, &narrow, sizeof lo);
        memcpy(&hi, (const char *)&narrow + sizeof lo, sizeof hi);
        return H{widened_half<P>(lo, further), widened_half<P>(hi, further)};
    } else {
        return H{__builtin_convertvector(narrow, typename traits<H>::vector_t) << further};
    }
}
template <typename N, typename H> inline PVA_ALWAYS N narrowed_half(const H &wide, int less)
{
    if constexpr (traits<H>::is_split) {
        typedef std::decay_t<decltype(N{}[0])> E;
        typedef E part_t __attribute__((vector_size(sizeof(N) / 2)));
        part_t lo = narrowed_half<part_t>(wide.lo, less), hi = narrowed_half<part_t>(wide.hi, less);
        N result;
        memcpy(&result, &lo, sizeof lo);
        memcpy((char *)&result + sizeof lo, &hi, sizeof hi);
        return result;
    } else {
        return __builtin_convertvector(wide.v >> less, N);
    }
}

/* A double vector with half as many bits in twice the room, and back. */
template <typename To, typename From> inline PVA_ALWAYS To convert(const From &from)
{
    static_assert(traits<To>::lanes == traits<From>::lanes, "as many lanes");
    typedef std::conditional_t<traits<To>::is_double, From, To> narrow_t;
    typedef typename traits<narrow_t>::element E;
    typedef E half_t __attribute__((vector_size(sizeof(narrow_t) / 2)));
    half_t lo, hi;
    if constexpr (traits<To>::is_double) {
        typedef typename traits<To>::half H;
        constexpr int further = traits<H>::up - traits<From>::up;
        memcpy(&lo, &from, sizeof lo);
        memcpy(&hi, (const char *)&from + sizeof lo, sizeof hi);
        return To{widened_half<H>(lo, further), widened_half<H>(hi, further)};
    } else {
        To to;
        constexpr int less = traits<From>::up - traits<To>::up;
        constexpr E lane_bits = (E)((uint64_t)-1 << traits<To>::up);
        lo = narrowed_half<half_t>(from.lo, less) & lane_bits;
        hi = narrowed_half<half_t>(from.hi, less) & lane_bits;
        memcpy(&to, &lo, sizeof lo);
        memcpy((char *)&to + sizeof lo, &hi, sizeof hi);
        return to;
    }
}

} // namespace pva

PVA_INLINE vcharx vdemote(const dvshortx &a)
{
    return pva::convert<vcharx>(a);
}
PVA_INLINE vshortx vdemote(const dvintx &a)
{
    return pva::convert<vshortx>(a);
}
PVA_INLINE dvshortx vpromote(const vcharx &a)
{
    return pva::convert<dvshortx>(a);
}
PVA_INLINE dvintx vpromote(const vshortx &a)
{
    return pva::convert<dvintx>(a);
}

/* A double vector of two single ones. */
PVA_INLINE dvcharx dvjoin(const vcharx &lo, const vcharx &hi)
{
    return dvcharx{lo, hi};
}
PVA_INLINE dvshortx dvjoin(const vshortx &lo, const vshortx &hi)
{
    return dvshortx{lo, hi};
}
PVA_INLINE dvintx dvjoin(const vintx &lo, const vintx &hi)
{
    return dvintx{lo, hi};
}

/* A double vector with one half given; the other one does not matter: zero, so that runs are alike. */
#define PVA_DEPOSIT(single)                                       \
    PVA_INLINE d##single deposit_lo(const single &lo)          \
    {                                                             \
        return d##single{lo, single{}};                           \
    }                                                             \
    PVA_INLINE d##single deposit_hi(const single &hi)          \
    {                                                             \
        return d##single{single{}, hi};                           \
    }
PVA_DEPOSIT(vcharx)
PVA_DEPOSIT(vshortx)
PVA_DEPOSIT(vintx)
PVA_DEPOSIT(vfloat)
#undef PVA_DEPOSIT

#endif
