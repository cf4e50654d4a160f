/* FP17 as floats: its numbers have 11 bits, so a result that is rounded to float first is right. */
#ifndef CUDLA_SIM_HALF_17_H
#define CUDLA_SIM_HALF_17_H

#include "native/cpu.h"
#include "native/half_single.h"

#define LARGEST17 0x1.ffcp32f
enum { LARGEST17_BITS = 0x4fffe000, LEAST17_BITS = 0x30800000 }; /* that, and 2^-30 */

/* A float to FP17, with the sign of some bits. */
INLINE float to_17(float value, uint32_t sign)
{
    uint32_t bits = single_bits(value);
    int32_t size = (int32_t)((bits + (bits >> 13 & 1) + 0xfff) & 0x7fffe000);
    size = size > LARGEST17_BITS ? LARGEST17_BITS : size;
    size &= -(size >= LEAST17_BITS);
    return single_of((uint32_t)size | (sign & 0x80000000));
}

/* A sum that is 0 has the sign of the first; -0 comes of two only that have it. */
INLINE float add_17(float first, float second)
{
    float total = first + second;
    return to_17(total, single_bits(total) | (single_bits(first) & FLAG32(total == 0)));
}

INLINE float multiply_17(float first, float second)
{
    float product = first * second;
    return to_17(product, single_bits(product));
}

#endif
