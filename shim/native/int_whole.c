/*
 * Implementation of int_whole.h. Two registers a pixel are enough for sums of 64 bits: one adds numbers of
 * 32 bits and wraps, the other one adds their upper halves, which says how often the first one wrapped. That
 * takes fewer instructions than products of parts of weights, which fit 32 bits for longer.
 */
#include "native/int_whole.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#include "native/cpu.h"

#pragma GCC optimize("O3")

#define AVX2 __attribute__((target("avx2")))

/*
 * A group adds two numbers at most. What upper halves leave out is at most 2^16 of each, so that of that
 * many groups it has 32 bits, and so have the upper halves.
 */
enum { BLOCK = 8, GROUPS = 1 << 14 };

AVX2 INLINE __m256i pair_at(const uint8_t *from)
{
    int32_t value;
    memcpy(&value, from, sizeof value);
    return _mm256_set1_epi32(value);
}

/* How many bytes are zero from here on; up to seven more are read. */
INLINE size_t zeros(const uint8_t *bytes, size_t count)
{
    size_t found = 0;
    for (uint64_t some; found < count; found += sizeof some) {
        memcpy(&some, bytes + found, sizeof some);
        if (some != 0) {
            found += (size_t)__builtin_ctzll(some) / 8;
            break;
        }
    }
    return found < count ? found : count;
}

AVX2 INLINE void move(int64_t *sums, __m256i total, __m256i upper)
{
    __m256i rest = _mm256_sub_epi32(total, _mm256_slli_epi32(upper, 16));
    for (int half = 0; half < 2; half++) {
        __m128i u = half ? _mm256_extracti128_si256(upper, 1) : _mm256_castsi256_si128(upper);
        __m128i r = half ? _mm256_extracti128_si256(rest, 1) : _mm256_castsi256_si128(rest);
        __m256i value = _mm256_slli_epi64(_mm256_cvtepi32_epi64(u), 16);
        value = _mm256_add_epi64(value, _mm256_cvtepu32_epi64(r));
        __m256i *to = (__m256i *)(sums + 4 * half);
        _mm256_storeu_si256(to, _mm256_add_epi64(_mm256_loadu_si256(to), value));
    }
}

/* Otherwise the compiler begins with all pixels at once, and has too few registers for that. */
#define PIXEL_BY_PIXEL(p) __asm__ volatile("" : "+x"(total[p]), "+x"(upper[p]))

AVX2 INLINE void eight(const struct sim_dot_tile *tile, const int first, const int pixels,
                       const __m256i *weights, const uint8_t *apart, int64_t *wide)
{
    const uint8_t *const *from = tile->pixels + first;
    size_t run = 0, left = tile->groups;
    int64_t where = tile->runs[0];
    do {
        __m256i total[6], upper[6];
        size_t room = GROUPS;
        _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)
            total[p] = upper[p] = _mm256_setzero_si256();
        while (room != 0) {
            size_t most = left < room ? left : room, count = zeros(apart, most);
            for (size_t i = 0; i < count; i++, where += 8, weights += 2) {
                __m256i one = _mm256_loadu_si256(weights), other = _mm256_loadu_si256(weights + 1);
                _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)
                {
                    const uint8_t *data = from[p] + where;
                    __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(pair_at(data), one),
                                                   _mm256_madd_epi16(pair_at(data + 4), other));
                    total[p] = _mm256_add_epi32(total[p], sum);
                    upper[p] = _mm256_add_epi32(upper[p], _mm256_srai_epi32(sum, 16));
                    PIXEL_BY_PIXEL(p);
                }
            }
            for (; count < most && apart[count] == 1; count++, where += 8, weights += 2) {
                __m256i one = _mm256_loadu_si256(weights), other = _mm256_loadu_si256(weights + 1);
                _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)
                {
                    __m256i sum = _mm256_madd_epi16(pair_at(from[p] + where), one);
                    __m256i more = _mm256_madd_epi16(pair_at(from[p] + where + 4), other);
                    total[p] = _mm256_add_epi32(total[p], _mm256_add_epi32(sum, more));
                    upper[p] = _mm256_add_epi32(upper[p], _mm256_srai_epi32(sum, 16));
                    upper[p] = _mm256_add_epi32(upper[p], _mm256_srai_epi32(more, 16));
                    PIXEL_BY_PIXEL(p);
                }
            }
            /* less one, 2^31 is no negative number; nothing else is as small as that is then */
            for (; count < most && apart[count] == 2; count++)
                for (int half = 0; half < 2; half++, where += 4, weights++) {
                    __m256i one = _mm256_loadu_si256(weights), minus = _mm256_set1_epi32(-1);
                    __asm__ volatile("" : "+x"(minus));
                    _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)
                    {
                        __m256i sum = _mm256_madd_epi16(pair_at(from[p] + where), one);
                        total[p] = _mm256_add_epi32(total[p], sum);
                        sum = _mm256_srai_epi32(_mm256_add_epi32(sum, minus), 16);
                        upper[p] = _mm256_add_epi32(upper[p], sum);
                        PIXEL_BY_PIXEL(p);
                    }
                }
            apart += count;
            room -= count;
            left -= count;
            if (left == 0) {
                if (++run == tile->run_count)
                    break;
                left = tile->groups;
                where = tile->runs[run];
            }
        }
        _Pragma("GCC unroll 6") for (int p = 0; p < pixels; p++)
            move(wide + 2 * BLOCK * (first + p), total[p], upper[p]);
    } while (run < tile->run_count);
}

#define CASE(n)                                                                              \
    AVX2 static void pixels_##n(const struct sim_dot_tile *tile, int first,                  \
                                const __m256i *weights, const uint8_t *apart, int64_t *wide) \
    {                                                                                        \
        eight(tile, first, n, weights, apart, wide);                                         \
    }
CASE(1)
CASE(2)
CASE(3)
CASE(4)
CASE(5)
CASE(6)

/* Weights of eight kernels are used for all pixels while they are in the nearest cache. */
void sim_whole_256(const struct sim_dot_tile *tile, int pixels, int kernels)
{
    static void (*const cases[])(const struct sim_dot_tile *, int, const __m256i *,
                                 const uint8_t *, int64_t *) = {
        pixels_1, pixels_2, pixels_3, pixels_4, pixels_5, pixels_6};
    const size_t groups = tile->run_count * tile->groups;
    const __m256i *weights = tile->weights;
    for (int block = 0; block < kernels / BLOCK; block++)
        for (int first = 0; first < pixels; first += 6) {
            int count = pixels - first < 6 ? pixels - first : 6;
            cases[count - 1](tile, first, weights + 2 * groups * block, tile->apart + groups * block,
                             tile->wide + BLOCK * block);
        }
}

#endif
