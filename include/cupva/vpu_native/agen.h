/*
 * Address generators. An agen walks up to six dimensions, the first one innermost: after each load or
 * store through it, dimension 1 goes on by one; where a dimension ends, it starts over and the next
 * one goes on. Strides count elements of `size` bytes from the start of their dimension. When all
 * have ended the walk starts over.
 *
 * A store through an agen saturates when its sat_opt says so: a lane below sat_lim_lo becomes
 * sat_val_lo, one above sat_lim_hi becomes sat_val_hi. Until they are set, limits and values are the
 * range of the elements that the agen was made for. Bit 0 of sat_opt turns it on, bit 1 reads the
 * four numbers as unsigned ones; lanes are signed in any case.
 */
#ifndef VPU_NATIVE_AGEN_H
#define VPU_NATIVE_AGEN_H

#include <stdint.h>

#include <limits>
#include <type_traits>

#include "lanes.h"

/* Iterations n and strides s of each dimension, as programs write them. */
struct AgenWrapper {
    int32_t size = 1;
    int32_t n1 = 1, n2 = 1, n3 = 1, n4 = 1, n5 = 1, n6 = 1;
    int32_t s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0;
};

struct agen {
    uint8_t *base;    /* where the walk began */
    uint8_t *address; /* of the next access */
    int32_t n[6], step[6], at[6];
    int32_t sat_opt; /* 0 none, 1 signed, 3 unsigned */
    int32_t sat_lim_lo, sat_val_lo, sat_lim_hi, sat_val_hi;
};

/* The VPU has three groups of agens; which one a walk uses matters to its compiler only. */
typedef agen agen_A;
typedef agen agen_B;
typedef agen agen_C;

/* What an agen was set up with; can be kept in VMEM. */
typedef agen AgenCFG;

namespace pva {

/* The element of a vector in memory, or the type itself. */
template <typename T, typename = void> struct element_of {
    typedef T type;
};
template <typename T> struct element_of<T, std::void_t<typename traits<T>::stored>> {
    typedef typename traits<T>::stored type;
};

} // namespace pva

template <typename T> PVA_INLINE agen init(T *base)
{
    agen result = {(uint8_t *)base, (uint8_t *)base, {1, 1, 1, 1, 1, 1}, {}, {}, 0, 0, 0, 0, 0};
    typedef typename pva::element_of<std::remove_cv_t<T>>::type E;
    if constexpr (std::is_integral_v<E> && sizeof(E) <= 4) {
        result.sat_lim_lo = result.sat_val_lo = (int32_t)std::numeric_limits<E>::min();
        result.sat_lim_hi = result.sat_val_hi = (int32_t)std::numeric_limits<E>::max();
    }
    return result;
}

namespace pva {

inline PVA_ALWAYS void set_dimension(agen &a, int dimension, int32_t n, int32_t stride, int32_t size)
{
    a.n[dimension] = n < 1 ? 1 : n;
    a.step[dimension] = stride * size;
}

/* One step of a dimension; whether it ended. The dimensions are told apart when this is compiled, so a
 * loop keeps its agen in registers. */
template <int I> inline PVA_ALWAYS bool ends(agen &a)
{
    a.address += a.step[I];
    if (__builtin_expect(++a.at[I] < a.n[I], 1))
        return false;
    a.address -= (int64_t)a.step[I] * a.n[I];
    a.at[I] = 0;
    return true;
}

/* The address of this access, and the step to the next one. */
inline PVA_ALWAYS uint8_t *next(agen &a)
{
    uint8_t *result = a.address;
    if (ends<0>(a) && ends<1>(a) && ends<2>(a) && ends<3>(a) && ends<4>(a))
        ends<5>(a);
    return result;
}

} // namespace pva

#define PVA_AGEN_DIMENSION(a, w, k) \
    pva::set_dimension(a, (k) - 1, (w).n##k, (w).s##k, (w).size)
#define INIT_AGEN1(a, w) \
    do { PVA_AGEN_DIMENSION(a, w, 1); } while (0)
#define INIT_AGEN2(a, w) \
    do { INIT_AGEN1(a, w); PVA_AGEN_DIMENSION(a, w, 2); } while (0)
#define INIT_AGEN3(a, w) \
    do { INIT_AGEN2(a, w); PVA_AGEN_DIMENSION(a, w, 3); } while (0)
#define INIT_AGEN4(a, w) \
    do { INIT_AGEN3(a, w); PVA_AGEN_DIMENSION(a, w, 4); } while (0)
#define INIT_AGEN5(a, w) \
    do { INIT_AGEN4(a, w); PVA_AGEN_DIMENSION(a, w, 5); } while (0)
#define INIT_AGEN6(a, w) \
    do { INIT_AGEN5(a, w); PVA_AGEN_DIMENSION(a, w, 6); } while (0)

PVA_INLINE AgenCFG extract_agen_cfg(const agen &a)
{
    AgenCFG result = a;
    result.address = a.base;
    for (int32_t &at : result.at)
        at = 0;
    return result;
}

PVA_INLINE agen init_agen_from_cfg(const AgenCFG &cfg)
{
    return extract_agen_cfg(cfg);
}

PVA_INLINE agen_A init_agen_A_from_cfg(const AgenCFG &cfg)
{
    return init_agen_from_cfg(cfg);
}
PVA_INLINE agen_B init_agen_B_from_cfg(const AgenCFG &cfg)
{
    return init_agen_from_cfg(cfg);
}
PVA_INLINE agen_C init_agen_C_from_cfg(const AgenCFG &cfg)
{
    return init_agen_from_cfg(cfg);
}

/* Moves the start of a walk that is kept in VMEM. */
PVA_INLINE void cupvaAdvanceAgenCfg(AgenCFG *cfg, const int32_t step_in_bytes)
{
    cfg->base += step_in_bytes;
    cfg->address = cfg->base;
}

template <typename T> PVA_INLINE void cupvaModifyAgenCfgBase(AgenCFG *cfg, T *base)
{
    cfg->base = cfg->address = (uint8_t *)base;
}

#endif
