/*
 * Address generators. An agen walks up to six dimensions, the first one innermost: after each load or
 * store through it, dimension 1 goes on by one; where a dimension ends, it starts over and the next
 * one goes on. Strides count elements of `size` bytes from the start of their dimension. When all
 * have ended the walk starts over.
 */
#ifndef VPU_NATIVE_AGEN_H
#define VPU_NATIVE_AGEN_H

#include <stdint.h>

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
};

/* What an agen was set up with; can be kept in VMEM. */
typedef agen AgenCFG;

template <typename T> static inline agen init(T *base)
{
    agen result = {(uint8_t *)base, (uint8_t *)base, {1, 1, 1, 1, 1, 1}, {}, {}};
    return result;
}

namespace pva {

inline void set_dimension(agen &a, int dimension, int32_t n, int32_t stride, int32_t size)
{
    a.n[dimension] = n < 1 ? 1 : n;
    a.step[dimension] = stride * size;
}

/* The address of this access, and the step to the next one. */
inline uint8_t *next(agen &a)
{
    uint8_t *result = a.address;
    for (int i = 0; i < 6; i++) {
        a.address += a.step[i];
        if (++a.at[i] < a.n[i])
            return result;
        a.address -= (int64_t)a.step[i] * a.n[i];
        a.at[i] = 0;
    }
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

static inline AgenCFG extract_agen_cfg(const agen &a)
{
    AgenCFG result = a;
    result.address = a.base;
    for (int32_t &at : result.at)
        at = 0;
    return result;
}

static inline agen init_agen_from_cfg(const AgenCFG &cfg)
{
    return extract_agen_cfg(cfg);
}

template <typename T> static inline void cupvaModifyAgenCfgBase(AgenCFG *cfg, T *base)
{
    cfg->base = cfg->address = (uint8_t *)base;
}

#endif
