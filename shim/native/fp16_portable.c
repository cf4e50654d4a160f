/* Steps of fp16_step.h on any machine: loops over lanes have no branches, so that the compiler
 * vectorises them. */
#include "native/fp16_step.h"

#pragma GCC optimize("O3")

static inline int32_t majority(int32_t a, int32_t b, int32_t c)
{
    return (a & b) | (c & (a | b));
}

/* Three rows become two. */
#define COMPRESS(a, b, c, sum, carry)                 \
    int32_t sum = (a) ^ (b) ^ (c);                    \
    int32_t carry = (int32_t)((uint32_t)majority(a, b, c) << 1)

/* Row i of the Booth array: the multiple of x that digit i selects, shifted to its place. */
static inline int32_t booth(int32_t one, int32_t two, int32_t negative, int32_t x, int i)
{
    int32_t pick_one = -(one >> (2 * i) & 1), pick_two = -(two >> (2 * i) & 1);
    int32_t invert = -(negative >> (2 * i) & 1);
    int32_t row = (pick_one & x) | (pick_two & (x << 1));
    return (int32_t)((uint32_t)(row ^ 0x10000 ^ (invert & 0x1ffff)) << (2 * i));
}

/* Products of one input with the weights of all lanes, shifted right by 4 * (largest - q). */
static inline __attribute__((always_inline)) void products(
    const int32_t *weights, int32_t x, int32_t scale, int32_t flip, const int32_t *largest,
    int32_t *low, int32_t *high)
{
    for (int k = 0; k < LANES; k++) {
        int32_t w = weights[k];
        int32_t shift = 4 * (largest[k] - scale - (w >> 20));
        int32_t bits = (w ^ flip) & 0x1ffff;
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

        int32_t used = -(int32_t)(shift < 32);
        int32_t by = shift & 31;
        uint32_t quotient = ((uint32_t)u1 >> by) + ((uint32_t)e1 >> by) - (0x55550000u >> by);
        int32_t p = (int32_t)quotient & used;
        low[k] += p & 0xffff;
        high[k] += p >> 16;
    }
}

static void add_step(const Inputs *inputs, const int32_t *packed, size_t stride, int64_t *sums,
                     int32_t *scales)
{
    int32_t largest[LANES] = {0}, low[LANES] = {0}, high[LANES] = {0};
    for (int i = 0; i < inputs->count; i++) {
        const int32_t *weights = packed + (size_t)inputs->index[i] * stride;
        int32_t scale = inputs->scale[i];
        for (int k = 0; k < LANES; k++) {
            int32_t q = scale + (weights[k] >> 20);
            largest[k] = q > largest[k] ? q : largest[k];
        }
    }
    for (int i = 0; i < inputs->count; i++)
        products(packed + (size_t)inputs->index[i] * stride, inputs->fraction[i],
                 inputs->scale[i], inputs->flip[i], largest, low, high);
    for (int k = 0; k < LANES; k++) {
        sums[k] = (int64_t)high[k] * 65536 + low[k];
        scales[k] = largest[k];
    }
}

static void accumulate_lanes(int64_t *mantissas, int32_t *exponents, const int64_t *sums,
                             const int32_t *scales)
{
    for (int k = 0; k < LANES; k++)
        accumulate(mantissas + k, exponents + k, sums[k], scales[k]);
}

static int supported(void)
{
    return 1;
}

const Fp16Instructions sim_fp16_portable = {"portable", supported, add_step, accumulate_lanes, 0};
