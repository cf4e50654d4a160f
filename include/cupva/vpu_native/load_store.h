/*
 * Vector loads and stores, through an agen or at an address. A load extends each element to its lane;
 * a store keeps the low bits of each lane that the element has, after the saturation that its agen asks
 * for. `..._load_perm(agen, index)` gives
 * lane i the element index[i] of the vector at the address. An agen steps once for each access.
 */
#ifndef VPU_NATIVE_LOAD_STORE_H
#define VPU_NATIVE_LOAD_STORE_H

#include <string.h>

#include "agen.h"
#include "operators.h"

namespace pva {

template <typename E, int Count> using vector_of __attribute__((vector_size(Count * sizeof(E)))) = E;
template <int Count>
using vector_mask = std::conditional_t<Count == 32, uint32_t, std::conditional_t<Count == 16, uint16_t, uint8_t>>;

/* Elements as lanes' elements. GCC's own conversion to its largest vectors goes by way of halves. */
template <typename V, typename P> inline PVA_ALWAYS V widened(const P &elements)
{
    return __builtin_convertvector(elements, V);
}
#if defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
#if defined(__AVX512BW__)
#define PVA_WIDENER(name, wide_t, count, elements)                                         \
    __builtin_ia32_pmov##name##512_mask(elements, (vector_of<pva_own_##wide_t, count>){}, \
                                        (vector_mask<count>)-1)
#define PVA_LANES(count) count
#else
#define PVA_WIDENER(name, wide_t, count, elements) __builtin_ia32_pmov##name##256(elements)
#define PVA_LANES(count) count / 2
#endif
#define PVA_WIDENED(signed_t, unsigned_t, wide_t, count, name)                                     \
    template <> inline PVA_ALWAYS vector_of<wide_t, count> widened(const vector_of<signed_t, count> &elements) \
    {                                                                                              \
        typedef vector_of<pva_own_##signed_t, count> own;                                          \
        return (vector_of<wide_t, count>)PVA_WIDENER(sx##name, wide_t, count, (own)elements);      \
    }                                                                                              \
    template <> inline PVA_ALWAYS vector_of<wide_t, count> widened(const vector_of<unsigned_t, count> &elements) \
    {                                                                                              \
        typedef vector_of<pva_own_##signed_t, count> own;                                          \
        return (vector_of<wide_t, count>)PVA_WIDENER(zx##name, wide_t, count, (own)elements);      \
    }
/* The builtins have types of their own. */
typedef char pva_own_int8_t;
typedef short pva_own_int16_t;
typedef int pva_own_int32_t;
typedef long long pva_own_int64_t;
PVA_WIDENED(int8_t, uint8_t, int16_t, PVA_LANES(32), bw)
PVA_WIDENED(int16_t, uint16_t, int32_t, PVA_LANES(16), wd)
PVA_WIDENED(int32_t, uint32_t, int64_t, PVA_LANES(8), dq)
#undef PVA_WIDENED
#undef PVA_WIDENER
#undef PVA_LANES
#endif

/* One register from consecutive elements. */
template <typename S, typename E> inline PVA_ALWAYS S load_single(const uint8_t *from)
{
    typedef E packed __attribute__((vector_size(traits<S>::lanes * sizeof(E))));
    packed elements;
    memcpy(&elements, from, sizeof elements);
    S result = {widened<typename traits<S>::vector_t>(elements)};
    if constexpr (traits<S>::kind != floating)
        result.v <<= traits<S>::up;
    return result;
}

template <typename R, typename E> inline PVA_ALWAYS R load(const void *from)
{
    const uint8_t *bytes = (const uint8_t *)from;
    if constexpr (traits<R>::is_split) {
        typedef typename traits<R>::half H;
        return R{load<H, E>(bytes), load<H, E>(bytes + traits<H>::lanes * sizeof(E))};
    } else {
        return load_single<R, E>(bytes);
    }
}

template <typename E, typename S> inline PVA_ALWAYS void store_single(const S &value, uint8_t *to)
{
    typedef E packed __attribute__((vector_size(traits<S>::lanes * sizeof(E))));
    auto lanes = value.v;
    if constexpr (traits<S>::kind != floating)
        lanes >>= traits<S>::up;
    packed elements = __builtin_convertvector(lanes, packed);
    memcpy(to, &elements, sizeof elements);
}

/* Whether instructions that narrow take two registers, whichever of them are used, and the compiler has a
 * word for it. */
#if defined(__AVX2__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PVA_NARROWS_PAIRS true
#endif
#endif
#ifndef PVA_NARROWS_PAIRS
#define PVA_NARROWS_PAIRS false
#endif
template <typename E, typename S> constexpr bool narrows_pairs = PVA_NARROWS_PAIRS && !traits<S>::is_split
    && sizeof(S) == 32 && sizeof(typename traits<S>::element) == 2 * sizeof(E);
#undef PVA_NARROWS_PAIRS

/* The first element of each two. */
template <typename V> inline PVA_ALWAYS V firsts(const V &a, const V &b)
{
    constexpr int count = sizeof(V) / sizeof(a[0]);
    if constexpr (count == 32)
        return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                       32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62);
    else if constexpr (count == 16)
        return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    else
        return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}

template <typename E, typename S> inline PVA_ALWAYS void store_pair(const S &a, const S &b, uint8_t *to)
{
    typedef vector_of<E, sizeof(S) / sizeof(E)> packed;
    packed elements = firsts((packed)(a.v >> traits<S>::up), (packed)(b.v >> traits<S>::up));
    memcpy(to, &elements, sizeof elements);
}

template <typename E, typename R> inline PVA_ALWAYS void store(const R &value, void *to)
{
    uint8_t *bytes = (uint8_t *)to;
    if constexpr (traits<R>::is_split) {
        typedef typename traits<R>::half H;
        if constexpr (narrows_pairs<E, H>) {
            store_pair<E>(value.lo, value.hi, bytes);
        } else {
            store<E>(value.lo, bytes);
            store<E>(value.hi, bytes + traits<H>::lanes * sizeof(E));
        }
    } else {
        store_single<E>(value, bytes);
    }
}

template <typename R> static __attribute__((noinline, cold))
R limited(R value, bool plain, int32_t lim_lo, int32_t val_lo, int32_t lim_hi, int32_t val_hi)
{
    auto number = [plain](int32_t field) { return plain ? field : (int64_t)(uint32_t)field; };
    /* a limit outside the lane's range is never reached */
    constexpr int64_t most = ((int64_t)1 << (traits<R>::bits - 1)) - 1;
    auto limit = [&](int32_t field) {
        int64_t x = number(field);
        return x < -most - 1 ? -most - 1 : x > most ? most : x;
    };
    const int64_t low = limit(lim_lo), high = limit(lim_hi);
    const int64_t at_low = number(val_lo), at_high = number(val_hi);
    return each(
        [&](auto x) {
            typedef decltype(x) S;
            typename S::vector_t none = {};
            x.v = x.v < element<S>(low) ? none + element<S>(at_low)
                : x.v > element<S>(high) ? none + element<S>(at_high) : x.v;
            return x;
        },
        value);
}

/* What a store through `a` writes. */
template <typename R> inline PVA_ALWAYS R saturated(const R &value, const agen &a)
{
    if constexpr (traits<R>::kind != floating) {
        if (__builtin_expect(a.sat_opt & 1, 0))
            return limited(R(value), !(a.sat_opt & 2), a.sat_lim_lo, a.sat_val_lo, a.sat_lim_hi,
                           a.sat_val_hi);
    }
    return value;
}

template <typename R, typename E, typename I> inline PVA_ALWAYS R load_perm(const void *from, const I &index)
{
    R result{};
    for (int i = 0; i < traits<R>::lanes; i++) {
        E element;
        memcpy(&element, (const uint8_t *)from + (int64_t)lane(index, i) * sizeof(E), sizeof element);
        set_lane(result, i, element);
    }
    return result;
}

} // namespace pva

#define PVA_LOADS(name, register_type, element)                                              \
    PVA_INLINE register_type name##_load(agen &a)                                         \
    {                                                                                        \
        return pva::load<register_type, element>(pva::next(a));                              \
    }                                                                                        \
    PVA_INLINE register_type name##_load(const void *from)                                \
    {                                                                                        \
        return pva::load<register_type, element>(from);                                      \
    }                                                                                        \
    template <typename I> PVA_INLINE register_type name##_load_perm(agen &a, const I &index) \
    {                                                                                        \
        return pva::load_perm<register_type, element>(pva::next(a), index);                  \
    }

PVA_LOADS(vchar, vcharx, int8_t)
PVA_LOADS(vuchar, vcharx, uint8_t)
PVA_LOADS(vshort, vshortx, int16_t)
PVA_LOADS(vushort, vshortx, uint16_t)
PVA_LOADS(vint, vintx, int32_t)
PVA_LOADS(vuint, vintx, uint32_t)
PVA_LOADS(dvchar, dvcharx, int8_t)
PVA_LOADS(dvuchar, dvcharx, uint8_t)
PVA_LOADS(dvshort, dvshortx, int16_t)
PVA_LOADS(dvushort, dvshortx, uint16_t)
PVA_LOADS(dvint, dvintx, int32_t)
PVA_LOADS(dvuint, dvintx, uint32_t)
PVA_LOADS(vfloat, vfloat, float)
PVA_LOADS(dvfloat, dvfloat, float)
#undef PVA_LOADS

/* Elements of 8, 16 or 32 bits, as the register type says. With a predicate: only the lanes whose bit
 * is set; the agen steps in any case. */
#define PVA_STORES(register_type, element)                                                   \
    PVA_INLINE void vstore(const register_type &value, agen &a)                           \
    {                                                                                        \
        pva::store<element>(pva::saturated(value, a), pva::next(a));                         \
    }                                                                                        \
    PVA_INLINE void vstore(const register_type &value, void *to)                          \
    {                                                                                        \
        pva::store<element>(value, to);                                                      \
    }                                                                                        \
    PVA_INLINE void vstore(const register_type &value, agen &a, int32_t predicate)        \
    {                                                                                        \
        const register_type kept = pva::saturated(value, a);                                 \
        uint8_t *to = pva::next(a);                                                          \
        for (int i = 0; i < pva::traits<register_type>::lanes; i++) {                        \
            element narrow = (element)pva::lane(kept, i);                                    \
            if (predicate >> (i & 31) & 1)                                                   \
                memcpy(to + i * sizeof narrow, &narrow, sizeof narrow);                      \
        }                                                                                    \
    }

PVA_STORES(vcharx, uint8_t)
PVA_STORES(vshortx, uint16_t)
PVA_STORES(vintx, uint32_t)
PVA_STORES(dvcharx, uint8_t)
PVA_STORES(dvshortx, uint16_t)
PVA_STORES(dvintx, uint32_t)
PVA_STORES(vfloat, float)
PVA_STORES(dvfloat, float)
#undef PVA_STORES

#endif
