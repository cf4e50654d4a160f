/* Steps of fp16_step.h with AVX-512. */
#include "native/fp16_step.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "native/cpu.h"
#include "native/fp16_reduce.h"

#pragma GCC optimize("O3")

#define AVX512 __attribute__((target("avx512f,avx512cd,avx512dq,avx512bw,avx512vl")))

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

static int supported(void)
{
    return (sim_cpu() & SIM_CPU_AVX512) != 0;
}

const Fp16Instructions sim_fp16_avx512 = {
    "avx512", supported, NULL, add_step_512, accumulate_512, 1};

#endif
