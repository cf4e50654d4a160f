/* Implementation of int_brief.h.
 *
 * What single precision makes of a number that fits a byte is at most 3 * 2^-24 of it wrong, so it
 * is rounded as the exact one unless it lies next to the middle of two integers. Pixels with such
 * numbers are computed in double precision, which is exact.
 */
#include "native/int_brief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

#define INLINE static inline __attribute__((always_inline))

enum { BLOCK = SIM_BRIEF_CHANNELS, STEP = 16, BYTE = 128 };

/* Beyond any byte, but so near that errors are below MARGIN. */
static const float FAR = 300.0f, MARGIN = 1e-4f;

static sim_brief_rows *rows_for(const char *instructions);

static int is_whole(double value)
{
    return fabs(value) < 2147483648.0 && value == (double)(int32_t)value;
}

int sim_brief_begin(struct sim_brief *brief, const struct sim_sdp_run *run, int64_t bound,
                    const char *instructions)
{
    const struct sim_sdp *sdp = run->sdp;
    const struct sim_stage *stage = sdp->stage_count ? &sdp->stages[0] : NULL;
    const struct sim_cube *output = &sdp->output;
    int scaled = stage != NULL && (stage->mul || stage->shift);
    int adds = stage != NULL && stage->alu != SIM_ALU_NONE, relu = stage != NULL && stage->relu;
    *brief = (struct sim_brief){.low = sdp->low, .high = sdp->high, .least = INT32_MIN};
    if (run->usual == NULL || output->item != 1 || output->element != 1 || !is_whole(sdp->offset))
        return 0;
    if (adds && stage->alu_operand.kind == SIM_ELEMENTS)
        return 0;
    if (scaled && (sdp->factor != 1.0 || fabs(sdp->offset) > BYTE))
        return 0; /* rounded twice, or FAR might become a byte */
    brief->rows = rows_for(instructions);
    brief->offset = scaled ? 0 : (int32_t)sdp->offset;
    brief->after = scaled ? (int32_t)sdp->offset : 0;
    brief->least_sum = relu && !scaled ? 0 : INT32_MIN;
    if (relu && scaled)
        brief->least = 0;
    size_t channels = ((size_t)sdp->channels + BLOCK - 1) / BLOCK * BLOCK;
    brief->added = calloc(channels, sizeof *brief->added);
    brief->factors = calloc(channels, sizeof *brief->factors);
    if (brief->added == NULL || brief->factors == NULL) {
        sim_brief_end(brief);
        return -1;
    }
    double by = stage != NULL ? ldexp(1.0, -stage->shift) : 1.0;
    double room = 2147483647.0 - (double)bound - fabs(sdp->offset);
    for (int c = 0; c < sdp->channels; c++) {
        double added = adds ? run->operands[0][0][c] : 0.0;
        double factor = scaled ? (stage->mul ? run->operands[0][1][c] : 1.0) * by : sdp->factor;
        if (!is_whole(added) || fabs(added) > room || (double)(float)factor != factor) {
            sim_brief_end(brief);
            return 0;
        }
        brief->added[c] = (int32_t)added;
        brief->factors[c] = (float)factor;
    }
    return 1;
}

void sim_brief_end(struct sim_brief *brief)
{
    free(brief->added);
    free(brief->factors);
    brief->added = NULL;
    brief->factors = NULL;
}

INLINE int32_t limited(int32_t value, int32_t low, int32_t high)
{
    value = value < low ? low : value;
    return value > high ? high : value;
}

/* Where a result lies in the middle, or next to it. */
static int32_t exact(const struct sim_brief *b, const int32_t *sums, int channel, int count,
                     int8_t *to)
{
    int32_t cut = 0;
    for (int i = 0; i < count; i++) {
        int32_t sum = sums[i] + b->added[channel + i];
        sum = (sum > b->least_sum ? sum : b->least_sum) - b->offset;
        double value = (double)sum * (double)b->factors[channel + i];
        value = __builtin_trunc(value + __builtin_copysign(0.5, value));
        value = value < -1000.0 ? -1000.0 : value > 1000.0 ? 1000.0 : value;
        int32_t result = ((int32_t)value > b->least ? (int32_t)value : b->least) - b->after;
        int32_t kept = limited(result, b->low, b->high);
        cut += kept != result;
        to[i] = (int8_t)kept;
    }
    return cut;
}

/* Some channels of a pixel, a multiple of what `pixel` does at a time; how many were cut. */
INLINE int32_t pixel(const struct sim_brief *b, const int32_t *restrict sums, int channel,
                     int count, int8_t *restrict to)
{
    const int32_t *restrict added = b->added + channel;
    const float *restrict factors = b->factors + channel;
    int32_t least_sum = b->least_sum, offset = b->offset, low = b->low, high = b->high;
    int32_t least = b->least, after = b->after, cut = 0, odd = 0, results[STEP];
    for (int first = 0; first < count; first += STEP) {
        for (int i = 0; i < STEP; i++) {
            int32_t sum = sums[first + i] + added[first + i];
            sum = (sum > least_sum ? sum : least_sum) - offset;
            float value = (float)sum * factors[first + i];
            value = value < -FAR ? -FAR : value;
            value = value > FAR ? FAR : value;
            int32_t result = (int32_t)(value + __builtin_copysignf(0.5f, value));
            odd |= __builtin_fabsf(value - (float)result) > 0.5f - MARGIN;
            result = (result > least ? result : least) - after;
            results[i] = limited(result, low, high);
            cut += results[i] != result;
        }
        for (int i = 0; i < STEP; i++)
            to[first + i] = (int8_t)results[i];
    }
    return __builtin_expect(odd, 0) ? exact(b, sums, channel, count, to) : cut;
}

/* Mostly a call would cost more than the bytes. */
INLINE void copy(uint8_t *to, const int8_t *from, int count)
{
    if (count == 16)
        memcpy(to, from, 16);
    else if (count == 32)
        memcpy(to, from, 32);
    else
        memcpy(to, from, (size_t)count);
}

void sim_brief_tile(const struct sim_brief *b, const struct sim_sdp_run *run,
                    struct sim_tile *tile, const int32_t *sums, int kernels)
{
    const struct sim_cube *cube = &run->sdp->output;
    int width = run->sdp->width, y = tile->pixel / width, x = tile->pixel % width;
    int surface = tile->channel / cube->atom, inside = tile->channel % cube->atom;
    int last = cube->channels - tile->channel, count = (tile->channels + STEP - 1) / STEP * STEP;
    last = tile->channels < last ? tile->channels : last;
    int8_t rows[SIM_TILE_PIXELS][BLOCK];
    if (kernels < count) {
        int32_t all[BLOCK] = {0}; /* behind the last channel, `added` and `factors` are 0 */
        for (int p = 0; p < tile->pixels; p++, sums += kernels) {
            memcpy(all, sums, sizeof *all * (size_t)kernels);
            tile->clipped += b->rows(b, all, BLOCK, 1, tile->channel, count, rows[p]);
        }
    } else {
        tile->clipped += b->rows(b, sums, kernels, tile->pixels, tile->channel, count, rows[0]);
    }
    for (int p = 0; p < tile->pixels; p++) {
        const int8_t *row = rows[p];
        uint8_t *to = cube->base + surface * cube->surface + y * cube->line + x * cube->pixel;
        int done = cube->atom - inside;
        if (last > 0)
            copy(to + inside, row, done < last ? done : last);
        for (to += cube->surface; done < last; done += cube->atom, to += cube->surface)
            copy(to, row + done, last - done < cube->atom ? last - done : cube->atom);
        if (++x == width) {
            x = 0;
            y++;
        }
    }
}

#define ROWS(name, attributes, row)                                                          \
    attributes static int32_t name(const struct sim_brief *restrict b, const int32_t *sums,     \
                                   int kernels, int pixels, int channel, int count,             \
                                   int8_t *restrict to)                                         \
    {                                                                                           \
        int32_t cut = 0;                                                                        \
        for (int p = 0; p < pixels; p++, sums += kernels, to += BLOCK)                          \
            cut += row(b, sums, channel, count, to);                                            \
        return cut;                                                                             \
    }

ROWS(rows_plain, , pixel)

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

/* The same by hand: compilers use half of the registers' width, or a quarter. Eight of them, as
 * integers; -1 for each that is cut is added to *cut. */
AVX2 INLINE __m256i eight(const struct sim_brief *b, const int32_t *sums, int channel, __m256i *cut,
                          __m256 *odd)
{
    __m256i sum = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)sums),
                                   _mm256_loadu_si256((const __m256i *)(b->added + channel)));
    sum = _mm256_sub_epi32(_mm256_max_epi32(sum, _mm256_set1_epi32(b->least_sum)),
                           _mm256_set1_epi32(b->offset));
    __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(b->factors + channel));
    value = _mm256_min_ps(_mm256_max_ps(value, _mm256_set1_ps(-FAR)), _mm256_set1_ps(FAR));
    __m256i result = _mm256_cvtps_epi32(value); /* the middle is odd */
    __m256 distance = _mm256_andnot_ps(
        _mm256_set1_ps(-0.0f), _mm256_sub_ps(value, _mm256_cvtepi32_ps(result)));
    *odd = _mm256_or_ps(
        *odd, _mm256_cmp_ps(distance, _mm256_set1_ps(0.5f - MARGIN), _CMP_GT_OQ));
    result = _mm256_sub_epi32(_mm256_max_epi32(result, _mm256_set1_epi32(b->least)),
                              _mm256_set1_epi32(b->after));
    __m256i kept = _mm256_min_epi32(_mm256_max_epi32(result, _mm256_set1_epi32(b->low)),
                                    _mm256_set1_epi32(b->high));
    __m256i as_is = _mm256_cmpeq_epi32(kept, result);
    *cut = _mm256_add_epi32(*cut, _mm256_andnot_si256(as_is, _mm256_set1_epi32(-1)));
    return kept;
}

AVX2 INLINE int32_t row_256(const struct sim_brief *b, const int32_t *sums, int channel, int count,
                            int8_t *to)
{
    __m256i cut = _mm256_setzero_si256();
    __m256 odd = _mm256_setzero_ps();
    for (int i = 0; i < count; i += 16) {
        __m256i first = eight(b, sums + i, channel + i, &cut, &odd);
        __m256i second = eight(b, sums + i + 8, channel + i + 8, &cut, &odd);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xd8);
        __m128i bytes = _mm_packs_epi16(
            _mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
        _mm_storeu_si128((__m128i *)(to + i), bytes);
    }
    if (__builtin_expect(_mm256_movemask_ps(odd), 0))
        return exact(b, sums, channel, count, to);
    if (_mm256_testz_si256(cut, cut))
        return 0;
    int32_t cuts[8], all = 0;
    _mm256_storeu_si256((__m256i *)cuts, cut);
    for (int i = 0; i < 8; i++)
        all -= cuts[i];
    return all;
}

ROWS(rows_256, AVX2, row_256)

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

AVX512 INLINE int32_t row_of_512(const struct sim_brief *b, const int32_t *sums, int channel,
                                 int count, int8_t *to)
{
    const __m512i least_sum = _mm512_set1_epi32(b->least_sum);
    const __m512i offset = _mm512_set1_epi32(b->offset);
    const __m512i least = _mm512_set1_epi32(b->least), after = _mm512_set1_epi32(b->after);
    const __m512i low = _mm512_set1_epi32(b->low), high = _mm512_set1_epi32(b->high);
    const __m512 near = _mm512_set1_ps(0.5f - MARGIN), far = _mm512_set1_ps(FAR);
    const __m512 below = _mm512_set1_ps(-FAR);
    __mmask16 odd = 0;
    int32_t cut = 0;
    for (int i = 0; i < count; i += 16) {
        __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(sums + i),
                                       _mm512_loadu_si512(b->added + channel + i));
        sum = _mm512_sub_epi32(_mm512_max_epi32(sum, least_sum), offset);
        __m512 value =
            _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(b->factors + channel + i));
        value = _mm512_min_ps(_mm512_max_ps(value, below), far);
        __m512i result = _mm512_cvtps_epi32(value); /* the middle is odd */
        __m512 distance = _mm512_sub_ps(value, _mm512_cvtepi32_ps(result));
        odd |= _mm512_cmp_ps_mask(_mm512_abs_ps(distance), near, _CMP_GT_OQ);
        result = _mm512_sub_epi32(_mm512_max_epi32(result, least), after);
        __m512i kept = _mm512_min_epi32(_mm512_max_epi32(result, low), high);
        cut += __builtin_popcount(_mm512_cmpneq_epi32_mask(kept, result));
        _mm_storeu_si128((__m128i *)(to + i), _mm512_cvtepi32_epi8(kept));
    }
    return __builtin_expect(odd, 0) ? exact(b, sums, channel, count, to) : cut;
}

AVX512 INLINE int32_t row_512(const struct sim_brief *b, const int32_t *sums, int channel,
                              int count, int8_t *to)
{
    if (count == 64)
        return row_of_512(b, sums, channel, 64, to);
    if (count == 32)
        return row_of_512(b, sums, channel, 32, to);
    return row_of_512(b, sums, channel, count, to);
}

ROWS(rows_512, AVX512, row_512)

static sim_brief_rows *rows_for(const char *instructions)
{
    if (strncmp(instructions, "avx512", 6) == 0)
        return rows_512;
    return strncmp(instructions, "avx", 3) == 0 ? rows_256 : rows_plain;
}
#else
static sim_brief_rows *rows_for(const char *instructions)
{
    (void)instructions;
    return rows_plain;
}
#endif
