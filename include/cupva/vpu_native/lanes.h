/*
 * Vector types. A register has 384 bits: 32 lanes of 12 bits (vcharx), 16 of 24 (vshortx) or 8 of 48
 * (vintx). Types with `dv` are two registers, `.lo` and `.hi`. The types without x are vectors as
 * they lie in memory, of 8, 16 and 32 bits; they become register types where they are used.
 *
 * Lanes are signed and wrap at their width. Unsigned memory lanes fit: 24 bits hold a uint16_t.
 *
 * A lane lies in the upper bits of an element of this machine, above zeros: so sums wrap by
 * themselves, and comparisons need nothing. lane() and set_lane() know that.
 *
 * A register's elements take 64 bytes. Where this machine has no vectors of that size, a register is
 * two parts, `.lo` and `.hi`, too: compilers keep vectors in memory that are larger than its own.
 */
#ifndef VPU_NATIVE_LANES_H
#define VPU_NATIVE_LANES_H

#include <stdint.h>

/* Vectors stay in registers only where nothing is called with them. */
#define PVA_ALWAYS __attribute__((always_inline))
#define PVA_INLINE static inline PVA_ALWAYS

#define PVA_VECTOR(name, element, bytes)                                       \
    struct name {                                                              \
        typedef element vector_t __attribute__((vector_size(bytes)));          \
        vector_t v;                                                            \
    }
#if defined(__AVX512BW__)
#define PVA_REGISTER(name, element) PVA_VECTOR(name, element, 64)
#else
#define PVA_REGISTER(name, element)                                            \
    PVA_VECTOR(name##_part, element, 32);                                      \
    struct name {                                                              \
        name##_part lo, hi;                                                    \
    }
#endif
#define PVA_DOUBLE(name, half)                                                 \
    struct name {                                                              \
        half lo, hi;                                                           \
    }

PVA_REGISTER(vcharx, int16_t);
PVA_REGISTER(vshortx, int32_t);
PVA_REGISTER(vintx, int64_t);
PVA_DOUBLE(dvcharx, vcharx);
PVA_DOUBLE(dvshortx, vshortx);
PVA_DOUBLE(dvintx, vintx);
/* Eight (two times eight) single-precision lanes. */
PVA_VECTOR(vfloat, float, 32);
PVA_DOUBLE(dvfloat, vfloat);

#undef PVA_VECTOR
#undef PVA_REGISTER
#undef PVA_DOUBLE

namespace pva {

enum family { none, extended, memory, floating };

/* What is known of a type: the register type that it becomes, its element, lanes and bits; whether it
 * is of two halves (is_split), and whether programs know that (is_double). */
template <typename T> struct traits {
    static constexpr family kind = none;
    static constexpr int lanes = 0;
};

template <typename Self, typename Element, int Lanes, int Bits> struct lane_traits {
    typedef Self self;
    typedef Element element;
    static constexpr family kind = extended;
    static constexpr int lanes = Lanes, bits = Bits;
    static constexpr int up = sizeof(Element) * 8 - Bits; /* where a lane begins */
    static constexpr bool is_split = false, is_double = false;
};
template <typename Single, typename Element, int Lanes, int Bits>
struct single_traits : lane_traits<Single, Element, Lanes, Bits> {
    typedef typename Single::vector_t vector_t;
};
template <typename Self, typename Half, typename Element, int Lanes, int Bits>
struct split_traits : lane_traits<Self, Element, Lanes, Bits> {
    typedef Half half;
    static constexpr bool is_split = true;
};
template <typename Double, typename Half, typename Element, int Lanes, int Bits>
struct double_traits : split_traits<Double, Half, Element, Lanes, Bits> {
    static constexpr bool is_double = true;
};

#if defined(__AVX512BW__)
#define PVA_SINGLE(name, element, count, width) \
    template <> struct traits<name> : single_traits<name, element, count, width> {}
#else
#define PVA_SINGLE(name, element, count, width)                                                    \
    template <> struct traits<name##_part> : single_traits<name##_part, element, count / 2, width> {}; \
    template <> struct traits<name> : split_traits<name, name##_part, element, count, width> {}
#endif
PVA_SINGLE(vcharx, int16_t, 32, 12);
PVA_SINGLE(vshortx, int32_t, 16, 24);
PVA_SINGLE(vintx, int64_t, 8, 48);
#undef PVA_SINGLE
template <> struct traits<dvcharx> : double_traits<dvcharx, vcharx, int16_t, 64, 12> {};
template <> struct traits<dvshortx> : double_traits<dvshortx, vshortx, int32_t, 32, 24> {};
template <> struct traits<dvintx> : double_traits<dvintx, vintx, int64_t, 16, 48> {};
template <> struct traits<vfloat> : single_traits<vfloat, float, 8, 32> {
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
    if constexpr (traits<V>::is_split) {
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
    if constexpr (traits<V>::is_split) {
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
