/* Implementations of int_dot.h. */
#include "native/int_dot.h"

#include "native/cpu.h"

#pragma GCC optimize("O3")

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__) && (!defined(__clang__) || __clang_major__ >= 16)
#define HAVE_NEON
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE int32_t word(const uint8_t *from)
{
    int32_t value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

/* One implementation: `body` for each number of pixels, so that sums stay in registers. */
#define CASE(n, body, attributes)                                                    \
    attributes static void body##_##n(const struct sim_dot_tile *tile) { body(tile, n); }

static int always(void)
{
    return 1;
}

#if defined(__x86_64__)

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define AVXVNNI __attribute__((target("avx2,avxvnni")))
#define AVX2 __attribute__((target("avx2")))

/* 16, 32, 48 or 64 kernels in as many registers as needed, bytes by groups of four. */
AVX512 INLINE void vnni512(const struct sim_dot_tile *tile, const int pixels, const int vectors)
{
    __m512i sums[6][4];
    const __m512i *weights = tile->weights;
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sums[p][v] = _mm512_loadu_si512(tile->start + 16 * v);
    for (size_t run = 0; run < tile->run_count; run++) {
        int64_t where = tile->runs[run];
        for (size_t i = 0; i < tile->groups; i++, where += 4, weights += vectors) {
            __m512i w[4];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                w[v] = _mm512_loadu_si512(weights + v);
#pragma GCC unroll 6
            for (int p = 0; p < pixels; p++) {
                __m512i data = _mm512_set1_epi32(word(tile->pixels[p] + where));
#pragma GCC unroll 4
                for (int v = 0; v < vectors; v++)
                    sums[p][v] = _mm512_dpbusd_epi32(sums[p][v], data, w[v]);
            }
        }
    }
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            _mm512_storeu_si512(tile->sums + 16 * (vectors * p + v), sums[p][v]);
}
#define VNNI512(n, v)                                                  \
    AVX512 static void vnni512_##n##_##v(const struct sim_dot_tile *tile) \
    {                                                                  \
        vnni512(tile, n, v);                                           \
    }
#define VNNI512_ROW(n) VNNI512(n, 1) VNNI512(n, 2) VNNI512(n, 3) VNNI512(n, 4)
VNNI512_ROW(1)
VNNI512_ROW(2)
VNNI512_ROW(3)
VNNI512_ROW(4)
VNNI512_ROW(5)
VNNI512_ROW(6)

static void run_vnni512(const struct sim_dot_tile *tile, int pixels, int kernels)
{
#define VNNI512_NAMES(n) {vnni512_##n##_1, vnni512_##n##_2, vnni512_##n##_3, vnni512_##n##_4}
    static void (*const cases[6][4])(const struct sim_dot_tile *) = {
        VNNI512_NAMES(1), VNNI512_NAMES(2), VNNI512_NAMES(3),
        VNNI512_NAMES(4), VNNI512_NAMES(5), VNNI512_NAMES(6)};
    cases[pixels - 1][kernels / 16 - 1](tile);
}

static int has_vnni512(void)
{
    return (sim_cpu() & SIM_CPU_AVX512_VNNI) != 0;
}

/* 16 kernels in two registers. `multiply`: how a group of data meets eight kernels. */
#define KERNEL256(name, attributes, multiply)                                              \
    attributes INLINE void name(const struct sim_dot_tile *tile, const int pixels)         \
    {                                                                                      \
        __m256i sums[6][2];                                                                \
        const __m256i *weights = tile->weights;                                            \
        _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                           \
        {                                                                                  \
            sums[p][0] = _mm256_loadu_si256((const __m256i *)tile->start);                 \
            sums[p][1] = _mm256_loadu_si256((const __m256i *)tile->start + 1);             \
        }                                                                                  \
        for (size_t run = 0; run < tile->run_count; run++) {                               \
            int64_t where = tile->runs[run];                                               \
            for (size_t i = 0; i < tile->groups; i++, where += 4, weights += 2) {          \
                __m256i w0 = _mm256_loadu_si256(weights);                                  \
                __m256i w1 = _mm256_loadu_si256(weights + 1);                              \
                _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                   \
                {                                                                          \
                    __m256i data = _mm256_set1_epi32(word(tile->pixels[p] + where));       \
                    sums[p][0] = multiply(sums[p][0], data, w0);                           \
                    sums[p][1] = multiply(sums[p][1], data, w1);                           \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
        _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                           \
        {                                                                                  \
            _mm256_storeu_si256((__m256i *)tile->sums + 2 * p, sums[p][0]);                \
            _mm256_storeu_si256((__m256i *)tile->sums + 2 * p + 1, sums[p][1]);            \
        }                                                                                  \
    }                                                                                      \
    CASE(1, name, attributes)                                                              \
    CASE(2, name, attributes)                                                              \
    CASE(3, name, attributes)                                                              \
    CASE(4, name, attributes)                                                              \
    CASE(5, name, attributes)                                                              \
    CASE(6, name, attributes)                                                              \
    static void run_##name(const struct sim_dot_tile *tile, int pixels, int kernels)       \
    {                                                                                      \
        static void (*const cases[])(const struct sim_dot_tile *) = {                      \
            name##_1, name##_2, name##_3, name##_4, name##_5, name##_6};                   \
        (void)kernels;                                                                     \
        cases[pixels - 1](tile);                                                           \
    }

#define MULTIPLY_VNNI(sum, data, weights) _mm256_dpbusd_avx_epi32(sum, data, weights)
#define MULTIPLY_AVX2(sum, data, weights) \
    _mm256_add_epi32(sum, _mm256_madd_epi16(data, weights))

KERNEL256(vnni256, AVXVNNI, MULTIPLY_VNNI)
KERNEL256(madd256, AVX2, MULTIPLY_AVX2)

static int has_avxvnni(void)
{
    return (sim_cpu() & SIM_CPU_AVX_VNNI) != 0;
}

static int has_avx2(void)
{
    return (sim_cpu() & SIM_CPU_AVX2) != 0;
}

#elif defined(HAVE_NEON)

#if defined(__clang__)
#define DOTPROD __attribute__((target("dotprod")))
#else
#define DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#endif

/* 16 kernels in four registers, bytes by groups of four. */
DOTPROD INLINE void neon(const struct sim_dot_tile *tile, const int pixels)
{
    int32x4_t sums[6][4];
    const int8_t *weights = tile->weights;
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++)
            sums[p][v] = vld1q_s32(tile->start + 4 * v);
    for (size_t run = 0; run < tile->run_count; run++) {
        int64_t where = tile->runs[run];
        for (size_t i = 0; i < tile->groups; i++, where += 4, weights += 64) {
            int8x16_t w[4];
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                w[v] = vld1q_s8(weights + 16 * v);
#pragma GCC unroll 6
            for (int p = 0; p < pixels; p++) {
                int8x16_t data = vreinterpretq_s8_s32(vdupq_n_s32(word(tile->pixels[p] + where)));
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++)
                    sums[p][v] = vdotq_s32(sums[p][v], w[v], data);
            }
        }
    }
#pragma GCC unroll 6
    for (int p = 0; p < pixels; p++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++)
            vst1q_s32(tile->sums + 4 * (4 * p + v), sums[p][v]);
}
CASE(1, neon, DOTPROD)
CASE(2, neon, DOTPROD)
CASE(3, neon, DOTPROD)
CASE(4, neon, DOTPROD)
CASE(5, neon, DOTPROD)
CASE(6, neon, DOTPROD)

static void run_neon(const struct sim_dot_tile *tile, int pixels, int kernels)
{
    static void (*const cases[])(const struct sim_dot_tile *) = {
        neon_1, neon_2, neon_3, neon_4, neon_5, neon_6};
    (void)kernels;
    cases[pixels - 1](tile);
}

static int has_dotprod(void)
{
    return (getauxval(AT_HWCAP) >> 20 & 1) != 0; /* HWCAP_ASIMDDP */
}

#endif

/* Any machine: pairs of 16-bit numbers, which compilers know how to multiply in vectors. */
enum { PORTABLE_KERNELS = 16, PORTABLE_PIXELS = 2 };
INLINE void portable(const struct sim_dot_tile *tile, const int pixels)
{
    int32_t sums[PORTABLE_PIXELS][PORTABLE_KERNELS];
    const int16_t *weights = tile->weights;
    for (int p = 0; p < pixels; p++)
        for (int k = 0; k < PORTABLE_KERNELS; k++)
            sums[p][k] = tile->start[k];
    for (size_t run = 0; run < tile->run_count; run++) {
        int64_t where = tile->runs[run];
        for (size_t i = 0; i < tile->groups; i++, where += 4, weights += 2 * PORTABLE_KERNELS)
            for (int p = 0; p < pixels; p++) {
                int16_t data[2];
                __builtin_memcpy(data, tile->pixels[p] + where, sizeof data);
                for (int k = 0; k < PORTABLE_KERNELS; k++)
                    sums[p][k] = (int32_t)((uint32_t)sums[p][k] +
                                           (uint32_t)(data[0] * weights[2 * k]) +
                                           (uint32_t)(data[1] * weights[2 * k + 1]));
            }
    }
    for (int p = 0; p < pixels; p++)
        for (int k = 0; k < PORTABLE_KERNELS; k++)
            tile->sums[p * PORTABLE_KERNELS + k] = sums[p][k];
}
CASE(1, portable, )
CASE(2, portable, )

static void run_portable(const struct sim_dot_tile *tile, int pixels, int kernels)
{
    (void)kernels;
    if (pixels == 1)
        portable_1(tile);
    else
        portable_2(tile);
}

const struct sim_dot sim_dots[] = {
#if defined(__x86_64__)
    {"avx512_vnni", 64, 6, 4, 1, 128, has_vnni512, run_vnni512},
    {"avx_vnni", 16, 6, 4, 1, 128, has_avxvnni, run_vnni256},
    {"avx2", 16, 6, 2, 2, 0, has_avx2, run_madd256},
#elif defined(HAVE_NEON)
    {"neon_dotprod", 16, 6, 4, 1, 0, has_dotprod, run_neon},
#endif
    {"portable", PORTABLE_KERNELS, PORTABLE_PIXELS, 2, 2, 0, always, run_portable},
};

const int sim_dot_count = sizeof sim_dots / sizeof *sim_dots;
