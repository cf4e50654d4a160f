/* The multiply-accumulate of fp16 convolution (CMAC and CACC), bit for bit.
 *
 * A step multiplies up to 64 pairs, shifts the products to the largest exponent among them and
 * adds them; the accumulator adds the steps in order. The hardware multiplies with a Booth array
 * whose two remaining rows are shifted separately, so a shifted product may be one less than the
 * true quotient: the rows are therefore computed here as well. Sixteen kernels at a time lie in
 * vector lanes; loops over lanes have no branches, so that the compiler vectorises them.
 *
 * Source of the rules: nvdla/hw cmod/cmac/NV_NVDLA_cmac.h, cmod/cacc/NV_NVDLA_cacc.cpp.
 */
#include "native/native.h"

#pragma GCC optimize("O3")

#define LANES 16
#define MAX_STEP 64

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

typedef struct {
    int count;
    int index[MAX_STEP];      /* number of the product in the step */
    int32_t fraction[MAX_STEP];
    int32_t scale[MAX_STEP];  /* exponent / 4 */
    int32_t flip[MAX_STEP];   /* all ones if negative */
} Inputs;

/* Mantissa with hidden bit, shifted so that the remaining exponent is a multiple of 4. */
static inline int32_t fraction_of(uint16_t half)
{
    int exponent = half >> 10 & 31;
    int32_t fraction = half & 0x3ff;
    return exponent ? (fraction | 0x400) << (exponent & 3) : fraction << 1;
}

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

CLONES static void add_step(const Inputs *inputs, const int32_t *packed, size_t stride,
                            int64_t *sums, int32_t *scales)
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

/* The accumulator as FP32, magnitude rounded half up. */
static uint32_t to_single(int64_t mantissa, int32_t exponent)
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

static int is_nan(uint16_t half)
{
    return (half & 0x7fff) > 0x7c00;
}

/* The first NaN among the weights of a kernel, else among the inputs, else 0. */
static uint16_t find_nan(const uint16_t *frame, const int64_t *offsets, const uint16_t *raw,
                         size_t stride, int count)
{
    for (int i = 0; i < count; i++)
        if (is_nan(raw[(size_t)i * stride]))
            return raw[(size_t)i * stride];
    for (int i = 0; i < count; i++)
        if (is_nan(frame[offsets[i]]))
            return frame[offsets[i]];
    return 0;
}

static void put_nan(int64_t *mantissa, int32_t *exponent, uint16_t nan)
{
    int64_t pattern = (int64_t)(nan & 0x3ff) - (nan & 0x8000 ? 0x400 : 0);
    if (*exponent == 255)
        *mantissa = *mantissa >> 29 << 29;
    else
        *mantissa = (int64_t)((uint64_t)pattern << 29);
    *exponent = 255;
}

/* Reads the inputs of a step, leaves zeros out; true if one is a NaN. */
static int read_inputs(Inputs *inputs, const uint16_t *frame, const int64_t *offsets, int count)
{
    int nan = 0, used = 0;
    for (int i = 0; i < count; i++) {
        uint16_t half = frame[offsets[i]];
        nan |= is_nan(half);
        if ((half & 0x7fff) == 0)
            continue;
        inputs->index[used] = i;
        inputs->fraction[used] = fraction_of(half);
        inputs->scale[used] = half >> 12 & 7;
        inputs->flip[used] = half & 0x8000 ? -1 : 0;
        used++;
    }
    inputs->count = used;
    return nan;
}

/* kernels is the row length of packed and raw, a multiple of 16; mantissas and exponents are
 * scratch of that length; results is [pixel][kernel]. packed holds, per weight, exponent / 4 from
 * bit 20 on (-64 for zeros) and in bits 16..0 twice the mantissa, inverted if negative. A step has
 * at most 64 products; odd[step] tells that one of its weights is a NaN. */
void sim_fp16_mac(const uint16_t *frame, const int64_t *pixels, size_t pixel_count,
                  const int64_t *offsets, const int64_t *starts, size_t steps,
                  const int32_t *packed, const uint16_t *raw, const uint8_t *odd, size_t kernels,
                  int64_t *mantissas, int32_t *exponents, uint32_t *results)
{
    Inputs inputs;
    int64_t sums[LANES];
    int32_t scales[LANES];
    for (size_t pixel = 0; pixel < pixel_count; pixel++) {
        const uint16_t *base = frame + pixels[pixel];
        for (size_t k = 0; k < kernels; k++) {
            mantissas[k] = 0;
            exponents[k] = 0;
        }
        for (size_t step = 0; step < steps; step++) {
            size_t first = (size_t)starts[step];
            int count = (int)(starts[step + 1] - starts[step]);
            const int64_t *where = offsets + first;
            int nan = read_inputs(&inputs, base, where, count) | odd[step];
            if (inputs.count == 0 && !nan)
                continue;
            for (size_t block = 0; block < kernels; block += LANES) {
                add_step(&inputs, packed + first * kernels + block, kernels, sums, scales);
                for (size_t k = 0; k < LANES; k++) {
                    size_t at = block + k;
                    uint16_t found = 0;
                    if (nan)
                        found = find_nan(base, where, raw + first * kernels + at, kernels, count);
                    if (found)
                        put_nan(mantissas + at, exponents + at, found);
                    else
                        accumulate(mantissas + at, exponents + at, sums[k], scales[k]);
                }
            }
        }
        for (size_t k = 0; k < kernels; k++)
            results[pixel * kernels + k] = to_single(mantissas[k], exponents[k]);
    }
}
