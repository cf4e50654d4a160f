/* The multiplier of fp16 convolution: a Booth array that leaves two rows of each product. */
#ifndef CUDLA_SIM_FP16_BOOTH_H
#define CUDLA_SIM_FP16_BOOTH_H

#include <stdint.h>

#define BOOTH_INLINE static inline __attribute__((always_inline))

/* What the two rows of a product add up to beside it. */
#define BOOTH_BIAS 0x55550000u

BOOTH_INLINE int32_t majority(int32_t a, int32_t b, int32_t c)
{
    return (a & b) | (c & (a | b));
}

/* Three rows become two. */
#define COMPRESS(a, b, c, sum, carry)                 \
    int32_t sum = (a) ^ (b) ^ (c);                    \
    int32_t carry = (int32_t)((uint32_t)majority(a, b, c) << 1)

/* Row i of the Booth array: the multiple of x that digit i selects, shifted to its place. */
BOOTH_INLINE int32_t booth(int32_t one, int32_t two, int32_t negative, int32_t x, int i)
{
    int32_t pick_one = -(one >> (2 * i) & 1), pick_two = -(two >> (2 * i) & 1);
    int32_t invert = -(negative >> (2 * i) & 1);
    int32_t row = (pick_one & x) | (pick_two & (x << 1));
    return (int32_t)((uint32_t)(row ^ 0x10000 ^ (invert & 0x1ffff)) << (2 * i));
}

/* The rows of x times the weight that `bits` holds: twice its mantissa, inverted if the product is
 * negative. */
BOOTH_INLINE void booth_rows(int32_t bits, int32_t x, uint32_t *first, uint32_t *second)
{
    int32_t one = bits ^ bits >> 1;
    int32_t two = (bits >> 1 ^ bits >> 2) & ~one;
    int32_t negative = bits >> 2 & ~(bits & bits >> 1);

    int32_t a0 = booth(one, two, negative, x, 0);
    int32_t a1 = booth(one, two, negative, x, 1) | (negative & 1);
    int32_t a2 = booth(one, two, negative, x, 2) | (negative & 4);
    int32_t a3 = booth(one, two, negative, x, 3) | (negative & 16);
    int32_t a4 = negative & 64;
    int32_t b0 = booth(one, two, negative, x, 4);
    int32_t b1 = booth(one, two, negative, x, 5) | (negative & 1 << 8);
    int32_t b2 = booth(one, two, negative, x, 6) | (negative & 1 << 10);
    int32_t b3 = booth(one, two, negative, x, 7) | (negative & 1 << 12);
    int32_t b4 = negative & 1 << 14;

    COMPRESS(a0, a1, a2, s0, c0);
    COMPRESS(s0, c0, a3, s1, c1);
    COMPRESS(s1, c1, a4, s2, c2);
    COMPRESS(b0, b1, b2, t0, d0);
    COMPRESS(t0, d0, b3, t1, d1);
    COMPRESS(t1, d1, b4, t2, d2);
    COMPRESS(s2, c2, t2, u0, e0);
    COMPRESS(u0, e0, d2, u1, e1);
    *first = (uint32_t)u1;
    *second = (uint32_t)e1;
}

/* The product, shifted right: each row by itself. */
BOOTH_INLINE int32_t booth_shifted(int32_t bits, int32_t x, int32_t shift)
{
    uint32_t first, second;
    booth_rows(bits, x, &first, &second);
    int32_t used = -(int32_t)(shift < 32);
    int32_t by = shift & 31;
    return (int32_t)((first >> by) + (second >> by) - (BOOTH_BIAS >> by)) & used;
}

#endif
