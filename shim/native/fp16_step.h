/* The multiply-accumulate of fp16 convolution (CMAC and CACC), bit for bit: steps for the
 * instructions that there are, a file for each.
 *
 * A step multiplies up to 64 pairs, shifts the products to the largest exponent among them and
 * adds them; the accumulator adds the steps in order. The hardware multiplies with a Booth array
 * whose two remaining rows are shifted separately, so a shifted product may be one less than the
 * true quotient: the rows are therefore computed here as well, by fp16_avx2.c where it matters.
 * Kernels lie in vector lanes, sixteen or 32.
 *
 * Source of the rules: nvdla/hw cmod/cmac/NV_NVDLA_cmac.h, cmod/cacc/NV_NVDLA_cacc.cpp.
 */
#ifndef CUDLA_SIM_FP16_STEP_H
#define CUDLA_SIM_FP16_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "native/native.h"

#define LANES 16
#define MAX_STEP 64

typedef struct {
    int count;
    int index[MAX_STEP];      /* number of the product in the step */
    int32_t fraction[MAX_STEP];
    int32_t scale[MAX_STEP];  /* exponent / 4 */
    int32_t flip[MAX_STEP];   /* all ones if negative */
    int32_t rows[MAX_STEP][8]; /* of the Booth array, by the bits of a digit */
} Inputs;

typedef struct {
    const char *name;
    int (*supported)(void);
    /* Computes pixels from *next on, which threads share, until there are no more; true if memory
     * is short. NULL: fp16_mac.c does, with the functions below. */
    int (*some_pixels)(const struct sim_fp16_job *job, size_t *next);
    /* Sums of the products of a step, and their exponents / 4, for the kernels of all lanes. */
    void (*add_step)(const Inputs *inputs, const int32_t *packed, size_t stride, int64_t *sums,
                     int32_t *scales);
    /* Adds them to accumulators. */
    void (*accumulate)(int64_t *mantissas, int32_t *exponents, const int64_t *sums,
                       const int32_t *scales);
    int tables; /* wants the rows of the inputs */
} Fp16Instructions;

extern const Fp16Instructions sim_fp16_avx512, sim_fp16_avx2, sim_fp16_portable;

/* Mantissa with hidden bit, shifted so that the remaining exponent is a multiple of 4. */
static inline int32_t fraction_of(uint16_t half)
{
    int exponent = half >> 10 & 31;
    int32_t fraction = half & 0x3ff;
    return exponent ? (fraction | 0x400) << (exponent & 3) : fraction << 1;
}

/* The accumulator as FP32, magnitude rounded half up. */
static inline uint32_t to_single(int64_t mantissa, int32_t exponent)
{
    uint32_t sign = mantissa < 0 ? 0x80000000u : 0;
    if (exponent == 255)
        return sign | 0x7f800000u | ((uint32_t)(mantissa >> 29) & 0x3ff);
    if (mantissa == 0)
        return 0;
    uint64_t size = mantissa < 0 ? 0 - (uint64_t)mantissa : (uint64_t)mantissa;
    if (size == (uint64_t)1 << 39)
        return sign | (uint32_t)(exponent + 65) << 23;
    uint32_t rounded = (uint32_t)((size + (1 << 14)) >> 15);
    int32_t field = exponent + 64;
    if (rounded >> 24) {
        rounded >>= 1;
        field++;
    }
    return sign | (uint32_t)field << 23 | (rounded & 0x7fffff);
}

/* Sign bits in front of the first one that differs, less one: the left shift that normalises. */
static inline int spare(int64_t value)
{
    uint64_t bits = (uint64_t)(value ^ value >> 63);
    return bits ? __builtin_clzll(bits) - 1 : 63;
}

/* Adds a step to an accumulator (40-bit mantissa, exponent with bias 63), half away from zero. */
static inline void accumulate(int64_t *mantissa, int32_t *exponent, int64_t sum, int32_t scale)
{
    if (sum == 0)
        return;
    if (*exponent == 255) {
        *mantissa = *mantissa >> 29 << 29;
        return;
    }
    int room = spare(sum);
    int64_t other = (int64_t)((uint64_t)sum << (room - 24));
    int32_t power = 4 * scale + 75 - room;
    if (*mantissa == 0) {
        *mantissa = other;
        *exponent = power;
        return;
    }
    int64_t big = *mantissa, small = other;
    int32_t top = *exponent, distance = *exponent - power;
    if (distance < 0) {
        big = other, small = *mantissa;
        top = power, distance = -distance;
    }
    int64_t total = (int64_t)((uint64_t)big << 20);
    if (distance <= 40) {
        int64_t wide = (int64_t)((uint64_t)small << 20);
        total += wide >> distance;
        total |= (wide & (((int64_t)1 << distance) - 1)) != 0;
    }
    if (total == 0) {
        *mantissa = 0;
        *exponent = 0;
        return;
    }
    int drop = 24 - spare(total);
    if (drop <= 0) {
        *mantissa = (int64_t)((uint64_t)total << -drop);
        *exponent = top + drop - 20;
        return;
    }
    int64_t result = total >> drop, half = (int64_t)1 << (drop - 1);
    int64_t rest = total & (((int64_t)1 << drop) - 1);
    result += total < 0 ? rest > half : rest >= half;
    if (result == (int64_t)1 << 39) {
        result >>= 1;
        top++;
    }
    *mantissa = result;
    *exponent = top + drop - 20;
}

#endif
