/* Steps of fp16_step.h with AVX2. */
#include "native/fp16_step.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "native/cpu.h"
#include "native/fp16_reduce.h"

#pragma GCC optimize("O3")

#define AVX2 __attribute__((target("avx2")))

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

static void accumulate_lanes(int64_t *mantissas, int32_t *exponents, const int64_t *sums,
                             const int32_t *scales)
{
    for (int k = 0; k < LANES; k++)
        accumulate(mantissas + k, exponents + k, sums[k], scales[k]);
}

static int supported(void)
{
    return (sim_cpu() & SIM_CPU_AVX2) != 0;
}

const Fp16Instructions sim_fp16_avx2 = {"avx2", supported, add_step_256, accumulate_lanes, 1};

#endif
