/* Implementations of int_wide.h. */
#include "native/int_wide.h"

#include <string.h>

#include "native/cpu.h"
#include "native/int_whole.h"

#pragma GCC optimize("O3")

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* A product of data and part of a weight has at most 22 bits: 511 of them fit 32 with sign. */
enum { PAIRS = 255, SINGLES = 510 };

static int always(void)
{
    return 1;
}

/* Groups from number *at of run *run on, as many as may be added before the sums are moved, and
 * where their data begin. 0: there are no more. */
INLINE size_t next_groups(const struct sim_dot_tile *tile, size_t bytes, size_t most, size_t *run,
                          size_t *at, int64_t *where)
{
    if (*at == tile->groups) {
        *at = 0;
        ++*run;
    }
    if (*run >= tile->run_count)
        return 0;
    size_t count = tile->groups - *at;
    *where = tile->runs[*run] + (int64_t)(*at * bytes);
    count = count < most ? count : most;
    *at += count;
    return count;
}

INLINE int more(const struct sim_dot_tile *tile, size_t run, size_t at)
{
    return run + 1 < tile->run_count || (run < tile->run_count && at < tile->groups);
}

#if defined(__x86_64__)

INLINE int32_t pair(const uint8_t *from)
{
    int32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

#define AVX512VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define AVX512BW __attribute__((target("avx512f,avx512bw")))
#define AVXVNNI __attribute__((target("avx2,avxvnni")))
#define AVX2 __attribute__((target("avx2")))

__attribute__((target("avx512f"))) INLINE void move512(int64_t *sums, __m512i low, __m512i high)
{
    __m512i first = _mm512_loadu_si512(sums), second = _mm512_loadu_si512(sums + 8);
    __m512i low0 = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(low));
    __m512i low1 = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(low, 1));
    __m512i high0 = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(high));
    __m512i high1 = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(high, 1));
    first = _mm512_add_epi64(first, _mm512_add_epi64(low0, _mm512_slli_epi64(high0, 8)));
    second = _mm512_add_epi64(second, _mm512_add_epi64(low1, _mm512_slli_epi64(high1, 8)));
    _mm512_storeu_si512(sums, first);
    _mm512_storeu_si512(sums + 8, second);
}

AVX2 INLINE void move256(int64_t *sums, __m256i low, __m256i high)
{
    for (int half = 0; half < 2; half++) {
        __m128i l = half ? _mm256_extracti128_si256(low, 1) : _mm256_castsi256_si128(low);
        __m128i h = half ? _mm256_extracti128_si256(high, 1) : _mm256_castsi256_si128(high);
        __m256i value = _mm256_slli_epi64(_mm256_cvtepi32_epi64(h), 8);
        value = _mm256_add_epi64(value, _mm256_cvtepi32_epi64(l));
        __m256i *to = (__m256i *)(sums + 4 * half);
        _mm256_storeu_si256(to, _mm256_add_epi64(_mm256_loadu_si256(to), value));
    }
}

/* 16 or 32 kernels, a register for each 16 of them and part of the weights. */
#define KERNEL512(name, attributes, multiply)                                                   \
    attributes INLINE void name(const struct sim_dot_tile *tile, const int pixels,              \
                                const int vectors)                                              \
    {                                                                                           \
        const __m512i *weights = tile->weights;                                                 \
        size_t run = 0, at = 0, count;                                                          \
        int64_t where = 0;                                                                      \
        do {                                                                                    \
            __m512i sums[6][4];                                                                 \
            size_t room = PAIRS;                                                                \
            _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                            \
                _Pragma("GCC unroll 4") for (int v = 0; v < 2 * vectors; v++)                   \
                    sums[p][v] = _mm512_setzero_si512();                                        \
            while (room && (count = next_groups(tile, 4, room, &run, &at, &where))) {           \
                room -= count;                                                                  \
                for (; count; count--, where += 4, weights += 2 * vectors) {                    \
                    __m512i w[4];                                                               \
                    _Pragma("GCC unroll 4") for (int v = 0; v < 2 * vectors; v++)               \
                        w[v] = _mm512_loadu_si512(weights + v);                                 \
                    _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                    \
                    {                                                                           \
                        __m512i data = _mm512_set1_epi32(pair(tile->pixels[p] + where));        \
                        _Pragma("GCC unroll 4") for (int v = 0; v < 2 * vectors; v++)           \
                            sums[p][v] = multiply(sums[p][v], data, w[v]);                      \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
            _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                            \
                _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)                       \
                    move512(tile->wide + 16 * (vectors * p + v), sums[p][v],                    \
                            sums[p][vectors + v]);                                              \
        } while (more(tile, run, at));                                                          \
    }                                                                                           \
    CASES512(name, attributes, 1)                                                               \
    CASES512(name, attributes, 2)                                                               \
    static void run_##name(const struct sim_dot_tile *tile, int pixels, int kernels)            \
    {                                                                                           \
        static void (*const cases[2][6])(const struct sim_dot_tile *) = {                       \
            {name##_1_1, name##_2_1, name##_3_1, name##_4_1, name##_5_1, name##_6_1},           \
            {name##_1_2, name##_2_2, name##_3_2, name##_4_2, name##_5_2, name##_6_2}};          \
        cases[kernels / 16 - 1][pixels - 1](tile);                                              \
    }

#define CASE512(name, attributes, n, v)                                    \
    attributes static void name##_##n##_##v(const struct sim_dot_tile *tile) \
    {                                                                      \
        name(tile, n, v);                                                  \
    }
#define CASES512(name, attributes, v)                                 \
    CASE512(name, attributes, 1, v) CASE512(name, attributes, 2, v)   \
    CASE512(name, attributes, 3, v) CASE512(name, attributes, 4, v)   \
    CASE512(name, attributes, 5, v) CASE512(name, attributes, 6, v)

#define MULTIPLY_VNNI512(sum, data, weights) _mm512_dpwssd_epi32(sum, data, weights)
#define MULTIPLY_BW512(sum, data, weights) \
    _mm512_add_epi32(sum, _mm512_madd_epi16(data, weights))

KERNEL512(vnni512, AVX512VNNI, MULTIPLY_VNNI512)
KERNEL512(bw512, AVX512BW, MULTIPLY_BW512)

/*
 * Eight kernels after the other eight, low and high parts in a register each: of six pixels the sums stay in
 * registers, and weights come from the second cache half as often as of three pixels and 16 kernels.
 */
#define KERNEL256(name, attributes, multiply)                                                   \
    attributes INLINE void name##_eight(const struct sim_dot_tile *tile, const int pixels,      \
                                        const __m256i *weights, int64_t *wide)                  \
    {                                                                                           \
        size_t run = 0, at = 0, count;                                                          \
        int64_t where = 0;                                                                      \
        do {                                                                                    \
            __m256i sums[6][2];                                                                 \
            size_t room = PAIRS;                                                                \
            _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                            \
                sums[p][0] = sums[p][1] = _mm256_setzero_si256();                               \
            while (room && (count = next_groups(tile, 4, room, &run, &at, &where))) {           \
                room -= count;                                                                  \
                for (; count; count--, where += 4, weights += 2) {                              \
                    __m256i low = _mm256_loadu_si256(weights);                                  \
                    __m256i high = _mm256_loadu_si256(weights + 1);                             \
                    _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                    \
                    {                                                                           \
                        __m256i data = _mm256_set1_epi32(pair(tile->pixels[p] + where));        \
                        sums[p][0] = multiply(sums[p][0], data, low);                           \
                        sums[p][1] = multiply(sums[p][1], data, high);                          \
                        /* or gcc keeps sums in memory, as it begins with all pixels at once */  \
                        __asm__ volatile("" : "+x"(sums[p][0]), "+x"(sums[p][1]));              \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
            _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)                            \
                move256(wide + 16 * p, sums[p][0], sums[p][1]);                                 \
        } while (more(tile, run, at));                                                          \
    }                                                                                           \
    attributes INLINE void name(const struct sim_dot_tile *tile, const int pixels)              \
    {                                                                                           \
        const __m256i *weights = tile->weights;                                                 \
        name##_eight(tile, pixels, weights, tile->wide);                                        \
        name##_eight(tile, pixels, weights + 2 * tile->run_count * tile->groups, tile->wide + 8); \
    }                                                                                           \
    CASE(1, name, attributes)                                                                   \
    CASE(2, name, attributes)                                                                   \
    CASE(3, name, attributes)                                                                   \
    CASE(4, name, attributes)                                                                   \
    CASE(5, name, attributes)                                                                   \
    CASE(6, name, attributes)                                                                   \
    static void run_##name(const struct sim_dot_tile *tile, int pixels, int kernels)            \
    {                                                                                           \
        static void (*const cases[])(const struct sim_dot_tile *) = {                           \
            name##_1, name##_2, name##_3, name##_4, name##_5, name##_6};                        \
        (void)kernels;                                                                          \
        cases[pixels - 1](tile);                                                                \
    }

#define MULTIPLY_VNNI256(sum, data, weights) _mm256_dpwssd_avx_epi32(sum, data, weights)

#endif

#define CASE(n, name, attributes)                                       \
    attributes static void name##_##n(const struct sim_dot_tile *tile) \
    {                                                                   \
        name(tile, n);                                                  \
    }
#if defined(__x86_64__)

KERNEL256(vnni256, AVXVNNI, MULTIPLY_VNNI256)

static int has_vnni512(void)
{
    return (sim_cpu() & SIM_CPU_AVX512_VNNI) != 0;
}

static int has_avx512(void)
{
    return (sim_cpu() & SIM_CPU_AVX512) != 0;
}

static int has_avxvnni(void)
{
    return (sim_cpu() & SIM_CPU_AVX_VNNI) != 0;
}

static int has_avx2(void)
{
    return (sim_cpu() & SIM_CPU_AVX2) != 0;
}

#elif defined(__aarch64__)

#define RUN3(name)                                                                      \
    static void run_##name(const struct sim_dot_tile *tile, int pixels, int kernels)    \
    {                                                                                   \
        static void (*const cases[])(const struct sim_dot_tile *) = {name##_1, name##_2, \
                                                                     name##_3};         \
        (void)kernels;                                                                  \
        cases[pixels - 1](tile);                                                        \
    }

INLINE void move_neon(int64_t *sums, int32x4_t low, int32x4_t high)
{
    int64x2_t first = vaddw_s32(vld1q_s64(sums), vget_low_s32(low));
    int64x2_t second = vaddw_high_s32(vld1q_s64(sums + 2), low);
    vst1q_s64(sums, vaddq_s64(first, vshll_n_s32(vget_low_s32(high), 8)));
    vst1q_s64(sums + 2, vaddq_s64(second, vshll_high_n_s32(high, 8)));
}

/* 16 kernels: four registers a pixel for the low parts, four for the high ones. */
INLINE void neon(const struct sim_dot_tile *tile, const int pixels)
{
    const int16_t *weights = tile->weights;
    size_t run = 0, at = 0, count;
    int64_t where = 0;
    do {
        int32x4_t sums[3][8];
        size_t room = SINGLES;
#pragma GCC unroll 3
        for (int p = 0; p < pixels; p++)
#pragma GCC unroll 8
            for (int v = 0; v < 8; v++)
                sums[p][v] = vdupq_n_s32(0);
        while (room && (count = next_groups(tile, 2, room, &run, &at, &where))) {
            room -= count;
            for (; count; count--, where += 2, weights += 32) {
                int16x8_t w[4];
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++)
                    w[v] = vld1q_s16(weights + 8 * v);
#pragma GCC unroll 3
                for (int p = 0; p < pixels; p++) {
                    int16_t data;
                    memcpy(&data, tile->pixels[p] + where, sizeof data);
#pragma GCC unroll 4
                    for (int v = 0; v < 4; v++) {
                        sums[p][2 * v] = vmlal_n_s16(sums[p][2 * v], vget_low_s16(w[v]), data);
                        sums[p][2 * v + 1] = vmlal_high_n_s16(sums[p][2 * v + 1], w[v], data);
                    }
                }
            }
        }
#pragma GCC unroll 3
        for (int p = 0; p < pixels; p++)
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                move_neon(tile->wide + 16 * p + 4 * v, sums[p][v], sums[p][4 + v]);
    } while (more(tile, run, at));
}
CASE(1, neon, )
CASE(2, neon, )
CASE(3, neon, )
RUN3(neon)

#endif

/* Any machine, in a form that compilers make vectors of. */
INLINE void portable(const struct sim_dot_tile *tile, const int pixels)
{
    const int16_t *weights = tile->weights;
    size_t run = 0, at = 0, count;
    int64_t where = 0;
    do {
        int32_t low[2][16] = {{0}}, high[2][16] = {{0}};
        size_t room = PAIRS;
        while (room && (count = next_groups(tile, 4, room, &run, &at, &where))) {
            room -= count;
            for (; count; count--, where += 4, weights += 64)
                for (int p = 0; p < pixels; p++) {
                    int16_t data[2];
                    memcpy(data, tile->pixels[p] + where, sizeof data);
                    for (int k = 0; k < 16; k++)
                        low[p][k] += data[0] * weights[2 * k] + data[1] * weights[2 * k + 1];
                    for (int k = 0; k < 16; k++)
                        high[p][k] +=
                            data[0] * weights[32 + 2 * k] + data[1] * weights[33 + 2 * k];
                }
        }
        for (int p = 0; p < pixels; p++)
            for (int k = 0; k < 16; k++)
                tile->wide[16 * p + k] += (int64_t)high[p][k] * 256 + low[p][k];
    } while (more(tile, run, at));
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

const struct sim_dot sim_wides[] = {
#if defined(__x86_64__)
    {"avx512_vnni", 32, 6, 2, 2, 0, has_vnni512, run_vnni512},
    {"avx512_bw", 32, 6, 2, 2, 0, has_avx512, run_bw512},
    {"avx_vnni", 16, 6, 2, 2, 0, has_avxvnni, run_vnni256, 8},
    {"avx2", 16, 12, 4, 2, 0, has_avx2, sim_whole_256, 8, 1},
#elif defined(__aarch64__)
    {"neon", 16, 3, 1, 2, 0, always, run_neon},
#endif
    {"portable", 16, 2, 2, 2, 0, always, run_portable},
};

const int sim_wide_count = sizeof sim_wides / sizeof *sim_wides;
