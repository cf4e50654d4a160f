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

/* One register from consecutive elements. */
template <typename S, typename E> inline S load_single(const uint8_t *from)
{
    typedef E packed __attribute__((vector_size(traits<S>::lanes * sizeof(E))));
    packed elements;
    memcpy(&elements, from, sizeof elements);
    return S{__builtin_convertvector(elements, typename traits<S>::vector_t)};
}

template <typename R, typename E> inline R load(const void *from)
{
    const uint8_t *bytes = (const uint8_t *)from;
    if constexpr (traits<R>::is_double) {
        typedef typename traits<R>::half H;
        return R{load_single<H, E>(bytes), load_single<H, E>(bytes + traits<H>::lanes * sizeof(E))};
    } else {
        return load_single<R, E>(bytes);
    }
}

template <typename E, typename S> inline void store_single(const S &value, uint8_t *to)
{
    typedef E packed __attribute__((vector_size(traits<S>::lanes * sizeof(E))));
    packed elements = __builtin_convertvector(value.v, packed);
    memcpy(to, &elements, sizeof elements);
}

template <typename E, typename R> inline void store(const R &value, void *to)
{
    uint8_t *bytes = (uint8_t *)to;
    if constexpr (traits<R>::is_double) {
        store_single<E>(value.lo, bytes);
        store_single<E>(value.hi, bytes + traits<R>::lanes / 2 * sizeof(E));
    } else {
        store_single<E>(value, bytes);
    }
}

/* What a store through `a` writes. */
template <typename R> inline R saturated(const R &value, const agen &a)
{
    if constexpr (traits<R>::kind != floating) {
        if (a.sat_opt & 1) {
            const bool plain = !(a.sat_opt & 2);
            auto number = [plain](int32_t field) { return plain ? field : (int64_t)(uint32_t)field; };
            /* a limit outside the lane's range is never reached */
            constexpr int64_t most = ((int64_t)1 << (traits<R>::bits - 1)) - 1;
            auto limit = [&](int32_t field) {
                int64_t x = number(field);
                return x < -most - 1 ? -most - 1 : x > most ? most : x;
            };
            typedef typename traits<R>::element lane_t;
            const lane_t lim_lo = (lane_t)limit(a.sat_lim_lo), lim_hi = (lane_t)limit(a.sat_lim_hi);
            const lane_t val_lo = (lane_t)number(a.sat_val_lo), val_hi = (lane_t)number(a.sat_val_hi);
            return each<R>(
                [&](auto x) {
                    typename decltype(x)::vector_t none = {};
                    x.v = x.v < lim_lo ? none + val_lo : x.v > lim_hi ? none + val_hi : x.v;
                    return x;
                },
                value);
        }
    }
    return value;
}

template <typename R, typename E, typename I> inline R load_perm(const void *from, const I &index)
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
    static inline register_type name##_load(agen &a)                                         \
    {                                                                                        \
        return pva::load<register_type, element>(pva::next(a));                              \
    }                                                                                        \
    static inline register_type name##_load(const void *from)                                \
    {                                                                                        \
        return pva::load<register_type, element>(from);                                      \
    }                                                                                        \
    template <typename I> static inline register_type name##_load_perm(agen &a, const I &index) \
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
    static inline void vstore(const register_type &value, agen &a)                           \
    {                                                                                        \
        pva::store<element>(pva::saturated(value, a), pva::next(a));                         \
    }                                                                                        \
    static inline void vstore(const register_type &value, void *to)                          \
    {                                                                                        \
        pva::store<element>(value, to);                                                      \
    }                                                                                        \
    static inline void vstore(const register_type &value, agen &a, int32_t predicate)        \
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
