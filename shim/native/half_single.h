/*
 * fp16 as floats, without a branch: what half.h does with doubles, for numbers that float holds exactly. An
 * infinity is the largest float; a NaN is none, whoever uses this puts it back.
 */
#ifndef CUDLA_SIM_HALF_SINGLE_H
#define CUDLA_SIM_HALF_SINGLE_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h> /* its builtins are known by it */
#endif

#include "native/bits.h"

#define LARGEST_SINGLE 0x1.fffffep127f

BITS_INLINE uint32_t single_bits(float value)
{
    union {
        float number;
        uint32_t bits;
    } it = {value};
    return it.bits;
}

BITS_INLINE float single_of(uint32_t bits)
{
    union {
        uint32_t bits;
        float number;
    } it = {bits};
    return it.number;
}

#define FLAG32(condition) (0 - (uint32_t)(condition))

BITS_INLINE float choose_single(uint32_t flag, float yes, float no)
{
    return single_of((single_bits(yes) & flag) | (single_bits(no) & ~flag));
}

BITS_INLINE float half_single(uint16_t pattern, float infinity)
{
    uint32_t size = pattern & 0x7fff, sign = (uint32_t)(pattern >> 15) << 31;
    float small = single_of(size | 0x3f000000) - 0.5f; /* 2^-24 is the last place of 0.5 */
    uint32_t normal = (size << 13) + ((uint32_t)(127 - 15) << 23);
    float value = choose_single(FLAG32(size < 0x400), small, single_of(normal));
    value = choose_single(FLAG32(size == 0x7c00), infinity, value);
    return single_of(single_bits(value) | sign);
}

/* Rounded to nearest even, cut to finite numbers. */
BITS_INLINE uint16_t single_half(float value)
{
    uint32_t wide = single_bits(value);
    float size = single_of(wide & 0x7fffffff);
    size = size > 65504.0f ? 65504.0f : size;
    uint32_t bits = single_bits(size);
    uint32_t normal = ((bits + (bits >> 13 & 1) + 0xfff) >> 13) - ((uint32_t)(127 - 15) << 10);
    uint32_t small = single_bits(size + 0.5f) - 0x3f000000;
    uint32_t least = FLAG32(size < 0x1p-14f);
    return (uint16_t)((small & least) | (normal & ~least) | wide >> 31 << 15);
}

/* Eight at once; a NaN is any number. `f16c`: by the processor's instructions. */
enum { HALVES = 8 };

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* of vectors in functions that are always inlined */
#endif

BITS_INLINE void halves_to_singles(const uint16_t *from, float *to, float infinity, const int f16c)
{
#if defined(__x86_64__) && !defined(__clang__)
    if (f16c) {
        typedef int16_t Halves __attribute__((vector_size(16), may_alias, aligned(2)));
        typedef float Singles __attribute__((vector_size(32), may_alias, aligned(4)));
        typedef short Shorts __attribute__((vector_size(16)));
        *(Singles *)to = __builtin_ia32_vcvtph2ps256((Shorts)*(const Halves *)from);
        if (infinity > LARGEST_SINGLE) /* it is one */
            return;
        for (int i = 0; i < HALVES; i++) {
            float value = to[i] > infinity ? infinity : to[i];
            to[i] = value < -infinity ? -infinity : value;
        }
        return;
    }
#endif
    for (int i = 0; i < HALVES; i++)
        to[i] = half_single(from[i], infinity);
}

BITS_INLINE void singles_to_halves(const float *from, uint16_t *to, const int f16c)
{
#if defined(__x86_64__) && !defined(__clang__)
    if (f16c) {
        typedef int16_t Halves __attribute__((vector_size(16), may_alias, aligned(2)));
        typedef float Singles __attribute__((vector_size(32), may_alias, aligned(4)));
        typedef float Numbers __attribute__((vector_size(32)));
        const Numbers none = {0}, largest = none + 65504.0f;
        Numbers value = __builtin_ia32_minps256(*(const Singles *)from, largest);
        value = __builtin_ia32_maxps256(value, -largest);
        *(Halves *)to = (Halves)__builtin_ia32_vcvtps2ph256(value, 0 /* to nearest even */);
        return;
    }
#endif
    for (int i = 0; i < HALVES; i++)
        to[i] = single_half(from[i]);
}

/*
 * Eight products, rounded to halves and cut to finite numbers; `relu`: none is below 0. For numbers and
 * factors that are neither infinite nor NaN, in registers from end to end. 0: this level has no such
 * instructions, nothing was done.
 */
BITS_INLINE int halves_times(const uint16_t *from, const float *factors, uint16_t *to, const int relu,
                             const int f16c)
{
#if defined(__x86_64__) && !defined(__clang__)
    if (f16c) {
        typedef int16_t Halves __attribute__((vector_size(16), may_alias, aligned(2)));
        typedef float Singles __attribute__((vector_size(32), may_alias, aligned(4)));
        typedef short Shorts __attribute__((vector_size(16)));
        typedef float Numbers __attribute__((vector_size(32)));
        const Numbers none = {0}, largest = none + 65504.0f;
        Numbers value = __builtin_ia32_vcvtph2ps256((Shorts)*(const Halves *)from);
        value *= *(const Singles *)factors;
        value = __builtin_ia32_minps256(value, largest);
        value = __builtin_ia32_maxps256(value, relu ? none : -largest); /* of -0 and 0 the second */
        *(Halves *)to = (Halves)__builtin_ia32_vcvtps2ph256(value, 0 /* to nearest even */);
        return 1;
    }
#endif
    (void)from, (void)factors, (void)to, (void)relu, (void)f16c;
    return 0;
}

BITS_INLINE float cut_single(float value)
{
    value = value > LARGEST_SINGLE ? LARGEST_SINGLE : value;
    return value < -LARGEST_SINGLE ? -LARGEST_SINGLE : value;
}

/* A sum that is 0 has the first number's sign. */
BITS_INLINE float add_single(float first, float second)
{
    float total = first + second;
    return choose_single(FLAG32(total == 0), single_of(single_bits(first) & 0x80000000),
                         cut_single(total));
}

#endif
