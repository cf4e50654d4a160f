/* Implementations of int_diagonal.h. */
#include "native/int_diagonal.h"

#include "native/cpu.h"

#pragma GCC optimize("O3")

#define INLINE static inline __attribute__((always_inline))

enum { KERNELS = 32, PIXELS = 6, STEP = 16 };

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vnni")))

/* 16 or 32 kernels in one or two registers. */
AVX512 INLINE void vnni512(const struct sim_dot_tile *tile, const int pixels, const int vectors)
{
    static const uint16_t order[64] = {
        0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
        11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53,
        22, 54, 23, 55, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63};
    const __m512i first = _mm512_loadu_si512(order), second = _mm512_loadu_si512(order + 32);
    const __mmask32 part = vectors == 2 ? 0xffffffff : 0xffff;
    const __m512i *weights = tile->weights;
    __m512i sums[PIXELS][2];
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++)
        sums[p][0] = sums[p][1] = _mm512_setzero_si512();
    for (size_t run = 0; run < tile->run_count; run += 2, weights += vectors) {
        int64_t one = tile->runs[run], other = tile->runs[run + 1];
        __m512i w0 = _mm512_loadu_si512(weights);
        __m512i w1 = vectors == 2 ? _mm512_loadu_si512(weights + 1) : w0;
#pragma GCC unroll 6
        for (int p = 0; p < pixels; p++) {
            __m512i a = _mm512_maskz_loadu_epi16(part, tile->pixels[p] + one);
            __m512i b = _mm512_maskz_loadu_epi16(part, tile->pixels[p] + other);
            sums[p][0] = _mm512_dpwssd_epi32(sums[p][0], _mm512_permutex2var_epi16(a, first, b), w0);
            if (vectors == 2)
                sums[p][1] =
                    _mm512_dpwssd_epi32(sums[p][1], _mm512_permutex2var_epi16(a, second, b), w1);
        }
    }
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++)
        for (int v = 0; v < vectors; v++)
            _mm512_storeu_si512(tile->sums + 16 * (vectors * p + v), sums[p][v]);
}
#define CASES(n)                                                                                  \
    AVX512 static void vnni512_##n##_1(const struct sim_dot_tile *tile) { vnni512(tile, n, 1); } \
    AVX512 static void vnni512_##n##_2(const struct sim_dot_tile *tile) { vnni512(tile, n, 2); }
CASES(1)
CASES(2)
CASES(3)
CASES(4)
CASES(5)
CASES(6)

static void run_vnni512(const struct sim_dot_tile *tile, int pixels, int kernels)
{
#define NAMES(n) {vnni512_##n##_1, vnni512_##n##_2}
    static void (*const cases[PIXELS][2])(const struct sim_dot_tile *) = {
        NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6)};
    cases[pixels - 1][kernels / 16 - 1](tile);
}

static int has_vnni512(void)
{
    return (sim_cpu() & SIM_CPU_AVX512_VNNI) != 0;
}

static int has_avx2(void)
{
    return (sim_cpu() & SIM_CPU_AVX2) != 0;
}
#endif

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define LOAD(from) _mm256_loadu_si256((const __m256i *)(from))
#define STORE(to, value) _mm256_storeu_si256((__m256i *)(to), value)

/* 16 kernels, two registers for each pixel: 0 to 3 and 8 to 11, 4 to 7 and 12 to 15, as unpacking
 * has them. */
AVX2 INLINE void madd256(const struct sim_dot_tile *tile, const int pixels, int kernels, int first)
{
    const int16_t *weights = (const int16_t *)tile->weights + 2 * first;
    __m256i sums[PIXELS][2];
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++)
        sums[p][0] = sums[p][1] = _mm256_setzero_si256();
    for (size_t run = 0; run < tile->run_count; run += 2, weights += 2 * kernels) {
        int64_t one = tile->runs[run] + 2 * first, other = tile->runs[run + 1] + 2 * first;
        __m256i w0 = LOAD(weights), w1 = LOAD(weights + 16);
        __m256i low = _mm256_permute2x128_si256(w0, w1, 0x20);
        __m256i high = _mm256_permute2x128_si256(w0, w1, 0x31);
#pragma GCC unroll 6
        for (int p = 0; p < pixels; p++) {
            __m256i a = LOAD(tile->pixels[p] + one), b = LOAD(tile->pixels[p] + other);
            sums[p][0] = _mm256_add_epi32(
                sums[p][0], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), low));
            sums[p][1] = _mm256_add_epi32(
                sums[p][1], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), high));
        }
    }
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++) {
        int32_t *to = tile->sums + p * kernels + first;
        STORE(to, _mm256_permute2x128_si256(sums[p][0], sums[p][1], 0x20));
        STORE(to + 8, _mm256_permute2x128_si256(sums[p][0], sums[p][1], 0x31));
    }
}

#define CASE256(n)                                                        \
    AVX2 static void madd256_##n(const struct sim_dot_tile *tile, int kernels) \
    {                                                                     \
        for (int first = 0; first < kernels; first += 16)                 \
            madd256(tile, n, kernels, first);                             \
    }
CASE256(1)
CASE256(2)
CASE256(3)
CASE256(4)
CASE256(5)
CASE256(6)

static void run_avx2(const struct sim_dot_tile *tile, int pixels, int kernels)
{
    static void (*const cases[PIXELS])(const struct sim_dot_tile *, int) = {
        madd256_1, madd256_2, madd256_3, madd256_4, madd256_5, madd256_6};
    cases[pixels - 1](tile, kernels);
}
#endif

static int always(void)
{
    return 1;
}

/* 16 kernels at a time, in what vectors the compiler has. */
INLINE void any(const struct sim_dot_tile *tile, int pixels, int kernels)
{
    for (int p = 0; p < pixels; p++)
        for (int k = 0; k < kernels; k += STEP) {
            int32_t sums[STEP] = {0};
            const int16_t *weights = (const int16_t *)tile->weights + 2 * k;
            for (size_t run = 0; run < tile->run_count; run += 2, weights += 2 * kernels) {
                int16_t one[STEP], other[STEP];
                __builtin_memcpy(one, tile->pixels[p] + tile->runs[run] + 2 * k, sizeof one);
                __builtin_memcpy(other, tile->pixels[p] + tile->runs[run + 1] + 2 * k,
                                 sizeof other);
                for (int i = 0; i < STEP; i++)
                    sums[i] += one[i] * weights[2 * i] + other[i] * weights[2 * i + 1];
            }
            __builtin_memcpy(tile->sums + p * kernels + k, sums, sizeof sums);
        }
}

static void run_portable(const struct sim_dot_tile *tile, int pixels, int kernels)
{
    any(tile, pixels, kernels);
}

const struct sim_dot sim_diagonals[] = {
#if defined(__x86_64__)
    {"avx512_vnni", KERNELS, PIXELS, 1, 2, 0, has_vnni512, run_vnni512},
    {"avx2", KERNELS, PIXELS, 1, 2, 0, has_avx2, run_avx2},
#endif
    {"portable", KERNELS, PIXELS, 1, 2, 0, always, run_portable},
};

const int sim_diagonal_count = sizeof sim_diagonals / sizeof *sim_diagonals;
