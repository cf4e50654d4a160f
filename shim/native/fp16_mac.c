/* The multiply-accumulate of fp16 convolution (CMAC and CACC), bit for bit.
 *
 * A step multiplies up to 64 pairs, shifts the products to the largest exponent among them and
 * adds them; the accumulator adds the steps in order. The hardware multiplies with a Booth array
 * whose two remaining rows are shifted separately, so a shifted product may be one less than the
 * true quotient: the rows are therefore computed here as well. Sixteen kernels at a time lie in
 * vector lanes; loops over lanes have no branches, so that the compiler vectorises them. With AVX2
 * and AVX-512, whose permutations are tables, a row is looked up: it depends on three bits of the
 * weight and on the input.
 *
 * Source of the rules: nvdla/hw cmod/cmac/NV_NVDLA_cmac.h, cmod/cacc/NV_NVDLA_cacc.cpp.
 */
#include "native/native.h"

#include <stdlib.h>

#include "native/cpu.h"
#include "native/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC optimize("O3")

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

/* Row 0 of the Booth array by the digit's three bits (0, 1, 1, 2, -2, -1, -1, 0 times x), without
 * the bits of `negative`. */
static inline void row_table(int32_t x, int32_t *rows)
{
    const int32_t plus = 0x10000, minus = 0x10000 ^ 0x1ffff;
    rows[0] = rows[7] = plus;
    rows[1] = rows[2] = x ^ plus;
    rows[3] = x << 1 ^ plus;
    rows[4] = x << 1 ^ minus;
    rows[5] = rows[6] = x ^ minus;
}

#if defined(__x86_64__)

/* The reduction of products(), for vectors: what lies in one row, and how three rows become two. */
#define REDUCE(V, ROW, OR_BITS, AND, XOR3, MAJORITY, TWICE)                             \
    V a0 = ROW(0), a1 = OR_BITS(ROW(1), 1), a2 = OR_BITS(ROW(2), 4);                    \
    V a3 = OR_BITS(ROW(3), 16), a4 = AND(negative, 64);                                 \
    V b0 = ROW(4), b1 = OR_BITS(ROW(5), 1 << 8), b2 = OR_BITS(ROW(6), 1 << 10);         \
    V b3 = OR_BITS(ROW(7), 1 << 12), b4 = AND(negative, 1 << 14);                       \
    V s0 = XOR3(a0, a1, a2), c0 = TWICE(MAJORITY(a0, a1, a2));                          \
    V s1 = XOR3(s0, c0, a3), c1 = TWICE(MAJORITY(s0, c0, a3));                          \
    V s2 = XOR3(s1, c1, a4), c2 = TWICE(MAJORITY(s1, c1, a4));                          \
    V t0 = XOR3(b0, b1, b2), d0 = TWICE(MAJORITY(b0, b1, b2));                          \
    V t1 = XOR3(t0, d0, b3), d1 = TWICE(MAJORITY(t0, d0, b3));                          \
    V t2 = XOR3(t1, d1, b4), d2 = TWICE(MAJORITY(t1, d1, b4));                          \
    V u0 = XOR3(s2, c2, t2), e0 = TWICE(MAJORITY(s2, c2, t2));                          \
    V u1 = XOR3(u0, e0, d2), e1 = TWICE(MAJORITY(u0, e0, d2));

#define AVX512 __attribute__((target("avx512f,avx512cd,avx512dq,avx512bw,avx512vl")))
#define AVX2 __attribute__((target("avx2")))

#define ROW512(i) \
    _mm512_slli_epi32(_mm512_permutexvar_epi32(_mm512_srli_epi32(bits, 2 * (i)), table), 2 * (i))
#define OR512(row, mask) \
    _mm512_ternarylogic_epi32(row, negative, _mm512_set1_epi32(mask), 0xf8) /* a | b & c */
#define AND512(a, mask) _mm512_and_si512(a, _mm512_set1_epi32(mask))
#define XOR512(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0x96)
#define MAJORITY512(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0xe8)
#define TWICE512(a) _mm512_add_epi32(a, a)

AVX512 static void add_step_512(const Inputs *inputs, const int32_t *packed, size_t stride,
                                int64_t *sums, int32_t *scales)
{
    __m512i largest = _mm512_setzero_si512(), low = largest, high = largest;
    const __m512i bias = _mm512_set1_epi32(0x55550000);
    for (int i = 0; i < inputs->count; i++) {
        __m512i w = _mm512_loadu_si512(packed + (size_t)inputs->index[i] * stride);
        __m512i q = _mm512_add_epi32(_mm512_set1_epi32(inputs->scale[i]), _mm512_srai_epi32(w, 20));
        largest = _mm512_max_epi32(largest, q);
    }
    for (int i = 0; i < inputs->count; i++) {
        __m512i w = _mm512_loadu_si512(packed + (size_t)inputs->index[i] * stride);
        __m512i q = _mm512_add_epi32(_mm512_set1_epi32(inputs->scale[i]), _mm512_srai_epi32(w, 20));
        __m512i shift = _mm512_slli_epi32(_mm512_sub_epi32(largest, q), 2);
        __m512i bits = AND512(_mm512_xor_si512(w, _mm512_set1_epi32(inputs->flip[i])), 0x1ffff);
        __m512i table = _mm512_broadcast_i64x4(
            _mm256_loadu_si256((const __m256i *)inputs->rows[i]));
        __m512i negative = _mm512_ternarylogic_epi32(
            _mm512_srli_epi32(bits, 2), bits, _mm512_srli_epi32(bits, 1), 0x70); /* a & ~(b & c) */
        REDUCE(__m512i, ROW512, OR512, AND512, XOR512, MAJORITY512, TWICE512)
        __m512i p = _mm512_sub_epi32(
            _mm512_add_epi32(_mm512_srlv_epi32(u1, shift), _mm512_srlv_epi32(e1, shift)),
            _mm512_srlv_epi32(bias, shift));
        low = _mm512_add_epi32(low, AND512(p, 0xffff));
        high = _mm512_add_epi32(high, _mm512_srai_epi32(p, 16));
    }
    _mm512_storeu_si512(scales, largest);
    for (int half = 0; half < 2; half++) {
        __m256i l = half ? _mm512_extracti64x4_epi64(low, 1) : _mm512_castsi512_si256(low);
        __m256i h = half ? _mm512_extracti64x4_epi64(high, 1) : _mm512_castsi512_si256(high);
        __m512i wide = _mm512_slli_epi64(_mm512_cvtepi32_epi64(h), 16);
        _mm512_storeu_si512(sums + 8 * half, _mm512_add_epi64(wide, _mm512_cvtepi32_epi64(l)));
    }
}

#define ROW256(i) \
    _mm256_slli_epi32( \
        _mm256_permutevar8x32_epi32(table, _mm256_srli_epi32(bits, 2 * (i))), 2 * (i))
#define AND256(a, mask) _mm256_and_si256(a, _mm256_set1_epi32(mask))
#define OR256(row, mask) _mm256_or_si256(row, AND256(negative, mask))
#define XOR256(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define MAJORITY256(a, b, c) \
    _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_or_si256(a, b)))
#define TWICE256(a) _mm256_add_epi32(a, a)

AVX2 static inline void add_half_256(const Inputs *inputs, const int32_t *packed, size_t stride,
                                     int64_t *sums, int32_t *scales)
{
    __m256i largest = _mm256_setzero_si256(), low = largest, high = largest;
    const __m256i bias = _mm256_set1_epi32(0x55550000);
    for (int i = 0; i < inputs->count; i++) {
        __m256i w =
            _mm256_loadu_si256((const __m256i *)(packed + (size_t)inputs->index[i] * stride));
        __m256i q = _mm256_add_epi32(_mm256_set1_epi32(inputs->scale[i]), _mm256_srai_epi32(w, 20));
        largest = _mm256_max_epi32(largest, q);
    }
    for (int i = 0; i < inputs->count; i++) {
        __m256i w =
            _mm256_loadu_si256((const __m256i *)(packed + (size_t)inputs->index[i] * stride));
        __m256i q = _mm256_add_epi32(_mm256_set1_epi32(inputs->scale[i]), _mm256_srai_epi32(w, 20));
        __m256i shift = _mm256_slli_epi32(_mm256_sub_epi32(largest, q), 2);
        __m256i bits = AND256(_mm256_xor_si256(w, _mm256_set1_epi32(inputs->flip[i])), 0x1ffff);
        __m256i table = _mm256_loadu_si256((const __m256i *)inputs->rows[i]);
        __m256i negative = _mm256_andnot_si256(
            _mm256_and_si256(bits, _mm256_srli_epi32(bits, 1)), _mm256_srli_epi32(bits, 2));
        REDUCE(__m256i, ROW256, OR256, AND256, XOR256, MAJORITY256, TWICE256)
        __m256i p = _mm256_sub_epi32(
            _mm256_add_epi32(_mm256_srlv_epi32(u1, shift), _mm256_srlv_epi32(e1, shift)),
            _mm256_srlv_epi32(bias, shift));
        low = _mm256_add_epi32(low, AND256(p, 0xffff));
        high = _mm256_add_epi32(high, _mm256_srai_epi32(p, 16));
    }
    _mm256_storeu_si256((__m256i *)scales, largest);
    int32_t l[8], h[8];
    _mm256_storeu_si256((__m256i *)l, low);
    _mm256_storeu_si256((__m256i *)h, high);
    for (int k = 0; k < 8; k++)
        sums[k] = (int64_t)h[k] * 65536 + l[k];
}

AVX2 static void add_step_256(const Inputs *inputs, const int32_t *packed, size_t stride,
                              int64_t *sums, int32_t *scales)
{
    add_half_256(inputs, packed, stride, sums, scales);
    add_half_256(inputs, packed + 8, stride, sums + 8, scales + 8);
}

#endif

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

static void accumulate_lanes(int64_t *mantissas, int32_t *exponents, const int64_t *sums,
                             const int32_t *scales)
{
    for (int k = 0; k < LANES; k++)
        accumulate(mantissas + k, exponents + k, sums[k], scales[k]);
}

#if defined(__x86_64__)

/* accumulate() for eight lanes. */
AVX512 static void accumulate_512(int64_t *mantissas, int32_t *exponents, const int64_t *sums,
                                  const int32_t *scales)
{
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi64(1);
#define NUMBER(n) _mm512_set1_epi64(n)
#define SPARE(v) /* sign bits to spare */                                             \
    _mm512_sub_epi64(                                                                 \
        _mm512_lzcnt_epi64(_mm512_xor_si512(v, _mm512_srai_epi64(v, 63))), one)
    for (int k = 0; k < LANES; k += 8) {
        __m512i mantissa = _mm512_loadu_si512(mantissas + k), sum = _mm512_loadu_si512(sums + k);
        __m512i exponent =
            _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(exponents + k)));
        __m512i scale = _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(scales + k)));
        __mmask8 active = _mm512_test_epi64_mask(sum, sum);
        __mmask8 nan = _mm512_mask_cmpeq_epi64_mask(active, exponent, NUMBER(255));
        __m512i kept = _mm512_slli_epi64(_mm512_srai_epi64(mantissa, 29), 29);

        __m512i room = SPARE(sum);
        __m512i other = _mm512_sllv_epi64(sum, _mm512_sub_epi64(room, NUMBER(24)));
        __m512i power =
            _mm512_sub_epi64(_mm512_add_epi64(_mm512_slli_epi64(scale, 2), NUMBER(75)), room);
        __mmask8 empty = _mm512_testn_epi64_mask(mantissa, mantissa);

        __m512i distance = _mm512_sub_epi64(exponent, power);
        __mmask8 smaller = _mm512_cmplt_epi64_mask(distance, zero);
        __m512i big = _mm512_mask_blend_epi64(smaller, mantissa, other);
        __m512i small = _mm512_mask_blend_epi64(smaller, other, mantissa);
        __m512i top = _mm512_mask_blend_epi64(smaller, exponent, power);
        distance = _mm512_abs_epi64(distance);
        __mmask8 near = _mm512_cmple_epi64_mask(distance, NUMBER(40));
        __m512i wide = _mm512_maskz_slli_epi64(near, small, 20);
        __m512i rest = _mm512_andnot_si512(_mm512_sllv_epi64(NUMBER(-1), distance), wide);
        __m512i total = _mm512_add_epi64(
            _mm512_slli_epi64(big, 20), _mm512_srav_epi64(wide, distance));
        total = _mm512_mask_or_epi64(total, _mm512_test_epi64_mask(rest, rest), total, one);
        __mmask8 gone = _mm512_testn_epi64_mask(total, total);

        __m512i drop = _mm512_sub_epi64(NUMBER(24), SPARE(total));
        __mmask8 shrinks = _mm512_cmpgt_epi64_mask(drop, zero);
        __m512i grown = _mm512_sllv_epi64(total, _mm512_sub_epi64(zero, drop));
        __m512i result = _mm512_srav_epi64(total, drop);
        __m512i half = _mm512_sllv_epi64(one, _mm512_sub_epi64(drop, one));
        rest = _mm512_andnot_si512(_mm512_sllv_epi64(NUMBER(-1), drop), total);
        __mmask8 negative = _mm512_cmplt_epi64_mask(total, zero);
        __mmask8 up = _mm512_cmpgt_epi64_mask(rest, half) |
                      (_mm512_cmpeq_epi64_mask(rest, half) & (__mmask8)~negative);
        result = _mm512_mask_add_epi64(result, up, result, one);
        __mmask8 over = _mm512_cmpeq_epi64_mask(result, NUMBER((int64_t)1 << 39)) & shrinks;
        result = _mm512_mask_srai_epi64(result, over, result, 1);
        top = _mm512_mask_add_epi64(top, over, top, one);
        result = _mm512_mask_blend_epi64(shrinks, grown, result);
        __m512i sized = _mm512_sub_epi64(_mm512_add_epi64(top, drop), NUMBER(20));
        result = _mm512_mask_mov_epi64(result, gone, zero);
        sized = _mm512_mask_mov_epi64(sized, gone, zero);
        result = _mm512_mask_mov_epi64(result, empty, other);
        sized = _mm512_mask_mov_epi64(sized, empty, power);
        result = _mm512_mask_mov_epi64(result, nan, kept);
        sized = _mm512_mask_mov_epi64(sized, nan, exponent);
        _mm512_mask_storeu_epi64(mantissas + k, active, result);
        _mm256_mask_storeu_epi32(exponents + k, active, _mm512_cvtepi64_epi32(sized));
    }
}

#endif

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
static int read_inputs(Inputs *inputs, const uint16_t *frame, const int64_t *offsets, int count,
                       int tables)
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
        if (tables)
            row_table(inputs->fraction[used], inputs->rows[used]);
        used++;
    }
    inputs->count = used;
    return nan;
}

typedef struct {
    const char *name;
    void (*add_step)(const Inputs *, const int32_t *, size_t, int64_t *, int32_t *);
    void (*accumulate)(int64_t *, int32_t *, const int64_t *, const int32_t *);
    int tables;
} Instructions;

static const Instructions all[] = {
#if defined(__x86_64__)
    {"avx512", add_step_512, accumulate_512, 1},
    {"avx2", add_step_256, accumulate_lanes, 1},
#endif
    {"portable", add_step, accumulate_lanes, 0},
};

static int supported(const Instructions *instructions)
{
#if defined(__x86_64__)
    if (instructions->accumulate == accumulate_512)
        return (sim_cpu() & SIM_CPU_AVX512) != 0;
    if (instructions->tables)
        return (sim_cpu() & SIM_CPU_AVX2) != 0;
#endif
    return instructions != NULL;
}

const char *sim_fp16_instructions(int number)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (supported(&all[i]) && number-- == 0)
            return all[i].name;
    return NULL;
}

typedef struct {
    const struct sim_fp16_job *job;
    const Instructions *with;
    size_t next;
    int failed;
} Run;

static void one_pixel(const struct sim_fp16_job *job, const Instructions *with, size_t pixel,
                      Inputs *inputs, int64_t *mantissas, int32_t *exponents)
{
    int64_t sums[LANES];
    int32_t scales[LANES];
    size_t kernels = job->kernels;
    const uint16_t *base = job->frame + job->pixels[pixel];
    for (size_t k = 0; k < kernels; k++) {
        mantissas[k] = 0;
        exponents[k] = 0;
    }
    for (size_t step = 0; step < job->steps; step++) {
        size_t first = (size_t)job->starts[step];
        int count = (int)(job->starts[step + 1] - job->starts[step]);
        const int64_t *where = job->offsets + first;
        int nan = read_inputs(inputs, base, where, count, with->tables) | job->odd[step];
        if (inputs->count == 0 && !nan)
            continue;
        for (size_t block = 0; block < kernels; block += LANES) {
            with->add_step(inputs, job->packed + first * kernels + block, kernels, sums, scales);
            if (!nan) {
                with->accumulate(mantissas + block, exponents + block, sums, scales);
                continue;
            }
            for (size_t k = 0; k < LANES; k++) {
                size_t at = block + k;
                uint16_t found =
                    find_nan(base, where, job->raw + first * kernels + at, kernels, count);
                if (found)
                    put_nan(mantissas + at, exponents + at, found);
                else
                    accumulate(mantissas + at, exponents + at, sums[k], scales[k]);
            }
        }
    }
    for (size_t k = 0; k < kernels; k++)
        job->results[pixel * kernels + k] = to_single(mantissas[k], exponents[k]);
}

static void some_pixels(void *argument)
{
    Run *run = argument;
    const struct sim_fp16_job *job = run->job;
    Inputs inputs;
    int64_t *mantissas = malloc(job->kernels * sizeof *mantissas);
    int32_t *exponents = malloc(job->kernels * sizeof *exponents);
    if (mantissas == NULL || exponents == NULL)
        run->failed = 1;
    else
        for (;;) {
            size_t pixel = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
            if (pixel >= job->pixel_count)
                break;
            one_pixel(job, run->with, pixel, &inputs, mantissas, exponents);
        }
    free(mantissas);
    free(exponents);
}

int sim_fp16_mac(const struct sim_fp16_job *job, const char *instructions)
{
    Run run = {.job = job};
    for (size_t i = 0; i < sizeof all / sizeof *all && run.with == NULL; i++)
        if (supported(&all[i]) &&
            (instructions == NULL || __builtin_strcmp(all[i].name, instructions) == 0))
            run.with = &all[i];
    if (run.with == NULL)
        return -1;
    double products = (double)job->pixel_count * (double)job->starts[job->steps];
    sim_parallel(some_pixels, &run, sim_threads_for(products * (double)job->kernels));
    return run.failed ? -1 : 0;
}
