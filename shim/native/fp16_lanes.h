/* Accumulators of fp16_step.h in vectors of AVX2. */
#ifndef CUDLA_SIM_FP16_LANES_H
#define CUDLA_SIM_FP16_LANES_H

#include <immintrin.h>

#include "native/cpu.h"
#include "native/fp16_step.h"

#define LOAD(from) _mm256_loadu_si256((const __m256i *)(from))
#define STORE(to, value) _mm256_storeu_si256((__m256i *)(to), value)
#define ALL64(value) _mm256_set1_epi64x(value)
/* `other` where the mask says so. */
#define CHOOSE(mask, one, other) _mm256_blendv_epi8(one, other, mask)

AVX2_VECTORS INLINE __m256i shifted_right(__m256i value, __m256i by)
{
    __m256i sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), value);
    return _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(value, sign), by), sign);
}

/* spare() of numbers that are not 0: the exponent of a double of the upper or the lower 32 bits. */
AVX2_VECTORS INLINE __m256i spare_256(__m256i value)
{
    const __m256i magic = ALL64(0x4330000000000000); /* 2^52 */
    __m256i sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), value);
    __m256i bits = _mm256_xor_si256(value, sign), upper = _mm256_srli_epi64(bits, 32);
    __m256i small = _mm256_cmpeq_epi64(upper, _mm256_setzero_si256());
    __m256i part = CHOOSE(small, upper, bits);
    __m256d number = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(part, magic)),
                                   _mm256_castsi256_pd(magic));
    __m256i exponent = _mm256_srli_epi64(_mm256_castpd_si256(number), 52);
    __m256i most = _mm256_add_epi64(ALL64(62 + 1023 - 32), _mm256_and_si256(small, ALL64(32)));
    return _mm256_sub_epi64(most, exponent);
}

/* accumulate() for `width` lanes, a multiple of four. */
AVX2_VECTORS static void accumulate_256(int64_t *mantissas, int32_t *exponents,
                                        const int64_t *sums, const int32_t *scales, size_t width)
{
    const __m256i zero = _mm256_setzero_si256(), ones = ALL64(-1), one = ALL64(1);
    for (size_t k = 0; k < width; k += 4) {
        __m256i mantissa = LOAD(mantissas + k), sum = LOAD(sums + k);
        __m256i exponent = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(exponents + k)));
        __m256i scale = _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(scales + k)));
        __m256i nothing = _mm256_cmpeq_epi64(sum, zero);
        __m256i nan = _mm256_cmpeq_epi64(exponent, ALL64(255));
        __m256i empty = _mm256_cmpeq_epi64(mantissa, zero);

        __m256i room = spare_256(sum);
        __m256i other = _mm256_sllv_epi64(sum, _mm256_sub_epi64(room, ALL64(24)));
        __m256i power =
            _mm256_sub_epi64(_mm256_add_epi64(_mm256_slli_epi64(scale, 2), ALL64(75)), room);

        __m256i distance = _mm256_sub_epi64(exponent, power);
        __m256i smaller = _mm256_cmpgt_epi64(zero, distance);
        __m256i big = CHOOSE(smaller, mantissa, other), small = CHOOSE(smaller, other, mantissa);
        __m256i top = CHOOSE(smaller, exponent, power);
        distance = _mm256_sub_epi64(_mm256_xor_si256(distance, smaller), smaller);
        __m256i far = _mm256_cmpgt_epi64(distance, ALL64(40));
        __m256i wide = _mm256_andnot_si256(far, _mm256_slli_epi64(small, 20));
        __m256i rest = _mm256_andnot_si256(_mm256_sllv_epi64(ones, distance), wide);
        __m256i total = _mm256_add_epi64(_mm256_slli_epi64(big, 20), shifted_right(wide, distance));
        __m256i whole = _mm256_cmpeq_epi64(rest, zero);
        total = _mm256_or_si256(total, _mm256_andnot_si256(whole, one));
        __m256i gone = _mm256_cmpeq_epi64(total, zero);

        __m256i drop = _mm256_sub_epi64(ALL64(24), spare_256(total));
        __m256i shrinks = _mm256_cmpgt_epi64(drop, zero);
        __m256i grown = _mm256_sllv_epi64(total, _mm256_sub_epi64(zero, drop));
        __m256i result = shifted_right(total, drop);
        __m256i half = _mm256_sllv_epi64(one, _mm256_sub_epi64(drop, one));
        rest = _mm256_andnot_si256(_mm256_sllv_epi64(ones, drop), total);
        __m256i tie = _mm256_andnot_si256(_mm256_cmpgt_epi64(zero, total),
                                          _mm256_cmpeq_epi64(rest, half));
        result = _mm256_sub_epi64(result, _mm256_or_si256(_mm256_cmpgt_epi64(rest, half), tie));
        __m256i over = _mm256_cmpeq_epi64(result, ALL64((int64_t)1 << 39));
        result = CHOOSE(over, result, ALL64((int64_t)1 << 38));
        top = _mm256_sub_epi64(top, _mm256_and_si256(over, shrinks));
        result = _mm256_andnot_si256(gone, CHOOSE(shrinks, grown, result));
        __m256i sized = _mm256_sub_epi64(_mm256_add_epi64(top, drop), ALL64(20));
        sized = _mm256_andnot_si256(gone, sized);
        result = CHOOSE(empty, result, other);
        sized = CHOOSE(empty, sized, power);
        result = CHOOSE(nan, result, _mm256_andnot_si256(ALL64((1 << 29) - 1), mantissa));
        sized = CHOOSE(nan, sized, exponent);
        result = CHOOSE(nothing, result, mantissa);
        sized = CHOOSE(nothing, sized, exponent);
        STORE(mantissas + k, result);
        sized = _mm256_permutevar8x32_epi32(sized, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
        _mm_storeu_si128((__m128i *)(exponents + k), _mm256_castsi256_si128(sized));
    }
}

#endif
