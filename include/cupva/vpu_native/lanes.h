/*
 * Vector types. A register has 384 bits: 32 lanes of 12 bits (vcharx), 16 of 24 (vshortx) or 8 of 48
 * (vintx). Types with `dv` are two registers, `.lo` and `.hi`. The types without x are vectors as
 * they lie in memory, of 8, 16 and 32 bits; they become register types where they are used.
 *
 * Lanes are signed and wrap at their width. Unsigned memory lanes fit: 24 bits hold a uint16_t.
 *
 * A lane lies in the upper bits of an element of this machine, above zeros: so sums wrap by
 * themselves, and comparisons need nothing. lane() and set_lane() know that.
 */
#ifndef VPU_NATIVE_LANES_H
#define VPU_NATIVE_LANES_H

#include <stdint.h>

/* Vectors stay in registers only where nothing is called with them. */
#define PVA_ALWAYS __attribute__((always_inline))
#define PVA_INLINE static inline PVA_ALWAYS

#define PVA_REGISTER(name, element, count)                                     \
    struct name {                                                              \
        typedef element vector_t __attribute__((vector_size(64)));             \
        vector_t v;                                                            \
    }
#define PVA_DOUBLE(name, half)                                                 \
    struct name {                                                              \
        half lo, hi;                                                           \
    }

PVA_REGISTER(vcharx, int16_t, 32);
PVA_REGISTER(vshortx, int32_t, 16);
PVA_REGISTER(vintx, int64_t, 8);
PVA_DOUBLE(dvcharx, vcharx);
PVA_DOUBLE(dvshortx, vshortx);
PVA_DOUBLE(dvintx, vintx);
/* Eight (two times eight) single-precision lanes. */
struct vfloat {
    typedef float vector_t __attribute__((vector_size(32)));
    vector_t v;
};
PVA_DOUBLE(dvfloat, vfloat);

#undef PVA_REGISTER
#undef PVA_DOUBLE

namespace pva {

enum family { none, extended, memory, floating };

/* What is known of a type: the register type that it becomes, its element, lanes and bits. */
template <typename T> struct traits {
    static constexpr family kind = none;
    static constexpr int lanes = 0;
};

template <typename Single, typename Double, typename Element, int Lanes, int Bits> struct single_traits {
    typedef Single self;
    typedef Element element;
    typedef typename Single::vector_t vector_t;
    static constexpr family kind = extended;
    static constexpr int lanes = Lanes, bits = Bits;
    static constexpr int up = sizeof(Element) * 8 - Bits; /* where a lane begins */
    static constexpr bool is_double = false;
};
template <typename Double, typename Half, typename Element, int Lanes, int Bits> struct double_traits {
    typedef Double self;
    typedef Half half;
    typedef Element element;
    static constexpr family kind = extended;
    static constexpr int lanes = Lanes, bits = Bits;
    static constexpr bool is_double = true;
};

template <> struct traits<vcharx> : single_traits<vcharx, dvcharx, int16_t, 32, 12> {};
template <> struct traits<vshortx> : single_traits<vshortx, dvshortx, int32_t, 16, 24> {};
template <> struct traits<vintx> : single_traits<vintx, dvintx, int64_t, 8, 48> {};
template <> struct traits<dvcharx> : double_traits<dvcharx, vcharx, int16_t, 64, 12> {};
template <> struct traits<dvshortx> : double_traits<dvshortx, vshortx, int32_t, 32, 24> {};
template <> struct traits<dvintx> : double_traits<dvintx, vintx, int64_t, 16, 48> {};
template <> struct traits<vfloat> : single_traits<vfloat, dvfloat, float, 8, 32> {
    static constexpr family kind = floating;
};
template <> struct traits<dvfloat> : double_traits<dvfloat, vfloat, float, 16, 32> {
    static constexpr family kind = floating;
};

/* A number as a lane's element; wraps. */
template <typename S, typename N> inline PVA_ALWAYS typename traits<S>::element element(N value)
{
    return (typename traits<S>::element)((uint64_t)(int64_t)value << traits<S>::up);
}

/* Lane `i` of any register type. */
template <typename V> inline PVA_ALWAYS typename traits<V>::element lane(const V &v, int i)
{
    if constexpr (traits<V>::is_double) {
        constexpr int half = traits<V>::lanes / 2;
        return i < half ? lane(v.lo, i) : lane(v.hi, i - half);
    } else if constexpr (traits<V>::kind == floating) {
        return v.v[i];
    } else {
        return v.v[i] >> traits<V>::up;
    }
}

template <typename V, typename E> inline PVA_ALWAYS void set_lane(V &v, int i, E value)
{
    if constexpr (traits<V>::is_double) {
        constexpr int half = traits<V>::lanes / 2;
        if (i < half)
            set_lane(v.lo, i, value);
        else
            set_lane(v.hi, i - half, value);
    } else if constexpr (traits<V>::kind == floating) {
        v.v[i] = (float)value;
    } else {
        v.v[i] = element<V>(value);
    }
}

/* A vector as it lies in memory. */
template <typename Register, typename Element> struct memory_vector {
    Element lanes[traits<Register>::lanes];

    inline operator Register() const
    {
        Register result;
        for (int i = 0; i < traits<Register>::lanes; i++)
            set_lane(result, i, lanes[i]);
        return result;
    }
    inline memory_vector &operator=(const Register &value)
    {
        for (int i = 0; i < traits<Register>::lanes; i++)
            lanes[i] = (Element)lane(value, i);
        return *this;
    }
};

} // namespace pva

#define PVA_MEMORY(name, register_type, element)                                       \
    struct name : pva::memory_vector<register_type, element> {                         \
        using pva::memory_vector<register_type, element>::operator=;                   \
    };                                                                                 \
    template <> struct pva::traits<name> : pva::traits<register_type> {                \
        typedef register_type self;                                                    \
        typedef element stored;                                                        \
        static constexpr pva::family kind = pva::memory;                               \
    }

PVA_MEMORY(vchar, vcharx, int8_t);
PVA_MEMORY(vuchar, vcharx, uint8_t);
PVA_MEMORY(vshort, vshortx, int16_t);
PVA_MEMORY(vushort, vshortx, uint16_t);
PVA_MEMORY(vint, vintx, int32_t);
PVA_MEMORY(vuint, vintx, uint32_t);
PVA_MEMORY(dvchar, dvcharx, int8_t);
PVA_MEMORY(dvuchar, dvcharx, uint8_t);
PVA_MEMORY(dvshort, dvshortx, int16_t);
PVA_MEMORY(dvushort, dvshortx, uint16_t);
PVA_MEMORY(dvint, dvintx, int32_t);
PVA_MEMORY(dvuint, dvintx, uint32_t);
#undef PVA_MEMORY

#endif
