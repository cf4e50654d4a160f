/* Steps of fp16_step.h on any machine: loops over lanes have no branches, so that the compiler
 * vectorises them. */
#include "native/fp16_booth.h"
#include "native/fp16_step.h"

#pragma GCC optimize("O3")

/* Products of one input with the weights of all lanes, shifted right by 4 * (largest - q). */
static inline __attribute__((always_inline)) void products(
    const int32_t *weights, int32_t x, int32_t scale, int32_t flip, const int32_t *largest,
    int32_t *low, int32_t *high)
{
    for (int k = 0; k < LANES; k++) {
        int32_t w = weights[k];
        int32_t shift = 4 * (largest[k] - scale - (w >> 20));
        int32_t bits = (w ^ flip) & 0x1ffff;
        int32_t p = booth_shifted(bits, x, shift);
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

const Fp16Instructions sim_fp16_portable = {
    "portable", supported, NULL, add_step, accumulate_lanes, 0};
