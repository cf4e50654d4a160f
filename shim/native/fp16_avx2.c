/* fp16 convolution with AVX2: true products, shifted, and what the Booth array makes less of them.
 *
 * A shifted product is one less than the true quotient where the rows' bits that are shifted out
 * add up to a carry. There is none for shifts of 0 and 4: the adders of the array resolve the
 * lowest bits. For a shift of 8 it depends on eight bits of either mantissa and on the sign: a
 * table. Larger shifts are rare where numbers have a common size; these products are noted down
 * and computed by the array, eight at a time.
 *
 * Weights of a step are made ready for 32 kernels, and used for all pixels of a chunk.
 */
#include "native/fp16_step.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdlib.h>

#include "native/cpu.h"
#include "native/fp16_booth.h"
#include "native/fp16_lanes.h"
#include "native/fp16_nan.h"
#include "native/fp16_reduce.h"

#pragma GCC optimize("O3")

/* With the counts of bits that every processor with AVX2 has. */
#define AVX2_BITS __attribute__((target("avx2,bmi,popcnt")))

enum {
    CHUNK = 32,    /* pixels */
    KERNELS = 32,  /* of a block, their bytes in a register */
    EXACT = 8,     /* products whose sum fits 32 bits */
    LATE = 256,    /* products that wait for the array */
    NOT_LATE = 11, /* the largest shift before 12, in bytes */
};

/* carries[low byte of the data's mantissa][sign][low byte of the weight's]: a bit for each. */
static uint8_t carries[256][2][32] __attribute__((aligned(32)));
static int carries_known;

static void find_carries(void)
{
    if (__atomic_load_n(&carries_known, __ATOMIC_ACQUIRE))
        return;
    for (int x = 0; x < 256; x++)
        for (int sign = 0; sign < 2; sign++)
            for (int byte = 0; byte < 32; byte++) {
                uint32_t bits = 0;
                for (int i = 0; i < 8; i++) {
                    uint32_t first, second;
                    booth_rows(((8 * byte + i) << 1 ^ -sign) & 0x1ffff, x, &first, &second);
                    bits |= ((first & 0xff) + (second & 0xff)) >> 8 << i;
                }
                /* another thread writes the same */
                __atomic_store_n(&carries[x][sign][byte], (uint8_t)bits, __ATOMIC_RELAXED);
            }
    __atomic_store_n(&carries_known, 1, __ATOMIC_RELEASE);
}

/* Data of a step, those that are not 0. */
struct datum {
    int32_t factor;         /* signed mantissa */
    int32_t scales;         /* 4 * scale, in each byte */
    const uint8_t *carries; /* those of its mantissa, for products above 0 first */
    uint8_t index;          /* number of the product in the step */
    uint8_t negative;
};

struct data {
    int count, nan;
    struct datum item[MAX_STEP];
};

/* Weights of a step for a block of kernels. */
struct weights {
    /* Signed mantissa; the upper half is 0. Eight kernels as `spread` has them. */
    int32_t factor[MAX_STEP][KERNELS / 8][8];
    int8_t scale4[MAX_STEP][KERNELS]; /* 4 * scale, far below all others for weights that are 0 */
    int8_t taken4[MAX_STEP][KERNELS]; /* 4 * scale, far above: they are not shifted at all */
    /* Where a carry lies: its byte among 16; bit 7: in the upper 16; sign; its bit. */
    int8_t byte[MAX_STEP][KERNELS], upper[MAX_STEP][KERNELS], sign[MAX_STEP][KERNELS];
    int8_t bit[MAX_STEP][KERNELS];
} __attribute__((aligned(32)));

/* Bytes as eight numbers: four of either half of a register. */
static const int8_t spread[4][32] __attribute__((aligned(32))) = {
#define SPREAD(n) n, -1, -1, -1, n + 1, -1, -1, -1, n + 2, -1, -1, -1, n + 3, -1, -1, -1
    {SPREAD(0), SPREAD(0)},
    {SPREAD(4), SPREAD(4)},
    {SPREAD(8), SPREAD(8)},
    {SPREAD(12), SPREAD(12)},
};

/* Sums of a step. */
struct sums {
    int64_t sum[KERNELS];
    int32_t scale[KERNELS];
};

/* Products of a step that the array has to compute: kernels of each datum; all shifts. */
struct marks {
    uint32_t late[MAX_STEP];
    uint8_t shift[MAX_STEP][KERNELS];
};

/* Those products, waiting. */
struct late {
    int count;
    int32_t weight[LATE], datum[LATE]; /* signed mantissas: 16 bits, 32 bits */
    uint8_t shift[LATE];
    uint16_t place[LATE]; /* of the sum */
};

struct chunk {
    struct weights weights;
    struct data data[CHUNK];
    struct sums sums[CHUNK];
    struct marks marks;
    struct late late;
};

static void read_data(struct data *data, const uint16_t *frame, const int64_t *offsets, int count)
{
    int used = 0;
    data->nan = 0;
    for (int i = 0; i < count; i++) {
        uint16_t half = frame[offsets[i]];
        int32_t fraction = fraction_of(half), negative = half >> 15, scale = half >> 12 & 7;
        data->nan |= is_nan(half);
        data->item[used] = (struct datum){
            .factor = negative ? -fraction : fraction,
            .scales = 4 * scale * 0x01010101,
            .carries = carries[fraction & 0xff][negative],
            .index = (uint8_t)i,
            .negative = (uint8_t)negative,
        };
        used += fraction != 0;
    }
    data->count = used;
}

#define ALL32(value) _mm256_set1_epi32(value)
#define TWICE128(from) _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(from)))

/* 32 bytes of numbers from 0 to 255, in their order. */
AVX2_VECTORS INLINE __m256i bytes_of(const __m256i number[4])
{
    __m256i first = _mm256_packus_epi32(number[0], number[1]);
    __m256i second = _mm256_packus_epi32(number[2], number[3]);
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, second),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Rows of 16 or 32 kernels; the others are 0. */
AVX2_VECTORS static void read_weights(struct weights *to, const int32_t *packed, size_t stride,
                                      int count, size_t kernels)
{
    const __m256i byte = ALL32(0xff), none = ALL32(-64 * (1 << 20));
    for (int i = 0; i < count; i++, packed += stride) {
        __m256i scale4[4], taken4[4], place[4], low[4], sign[4], bit[4], factor[4];
        for (int part = 0; part < 4; part++) {
            __m256i row = 8 * (size_t)part < kernels ? LOAD(packed + 8 * part) : none;
            __m256i bits = _mm256_and_si256(row, ALL32(0x1ffff));
            __m256i negative = _mm256_srai_epi32(_mm256_slli_epi32(row, 31), 31);
            __m256i mantissa = _mm256_srli_epi32(
                _mm256_xor_si256(bits, _mm256_and_si256(negative, ALL32(0x1ffff))), 1);
            __m256i scale = _mm256_slli_epi32(_mm256_srai_epi32(row, 20), 2);
            __m256i zero = _mm256_cmpeq_epi32(mantissa, _mm256_setzero_si256());
            scale4[part] =
                _mm256_blendv_epi8(_mm256_and_si256(scale, byte), ALL32(128), zero);
            taken4[part] = _mm256_blendv_epi8(scale4[part], ALL32(127), zero);
            place[part] = _mm256_and_si256(_mm256_srli_epi32(mantissa, 3), ALL32(15));
            low[part] = _mm256_and_si256(mantissa, byte);
            sign[part] = _mm256_and_si256(negative, byte);
            bit[part] = _mm256_sllv_epi32(ALL32(1), _mm256_and_si256(mantissa, ALL32(7)));
            factor[part] = _mm256_and_si256(
                _mm256_sub_epi32(_mm256_xor_si256(mantissa, negative), negative), ALL32(0xffff));
        }
        STORE(to->scale4[i], bytes_of(scale4));
        STORE(to->taken4[i], bytes_of(taken4));
        STORE(to->byte[i], bytes_of(place));
        STORE(to->upper[i], bytes_of(low));
        STORE(to->sign[i], bytes_of(sign));
        STORE(to->bit[i], bytes_of(bit));
        STORE(to->factor[i][0], _mm256_permute2x128_si256(factor[0], factor[2], 0x20));
        STORE(to->factor[i][1], _mm256_permute2x128_si256(factor[0], factor[2], 0x31));
        STORE(to->factor[i][2], _mm256_permute2x128_si256(factor[1], factor[3], 0x20));
        STORE(to->factor[i][3], _mm256_permute2x128_si256(factor[1], factor[3], 0x31));
    }
}

#define SHIFTED(a, by) _mm256_srlv_epi32(a, by)
/* Row i: 0x10000 + digit * x, one less for negative digits. */
#define ROW(i)                                                                                  \
    _mm256_slli_epi32(                                                                          \
        _mm256_add_epi32(                                                                       \
            _mm256_mullo_epi32(                                                                 \
                x, _mm256_permutevar8x32_epi32(digits, _mm256_srli_epi32(bits, 2 * (i)))),      \
            _mm256_permutevar8x32_epi32(begins, _mm256_srli_epi32(bits, 2 * (i)))),             \
        2 * (i))
#define AND(a, mask) _mm256_and_si256(a, ALL32(mask))
#define OR(row, mask) _mm256_or_si256(row, AND(negative, mask))
#define XOR3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define MAJORITY(a, b, c) \
    _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_or_si256(a, b)))
#define TWICE(a) _mm256_add_epi32(a, a)

/* Instead of true quotients: what the array makes of them (booth_shifted). */
AVX2_VECTORS static void add_late(struct late *late, struct sums *sums)
{
    const __m256i digits = _mm256_setr_epi32(0, 1, 1, 2, -2, -1, -1, 0);
    const __m256i begins = _mm256_add_epi32(
        _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, 0), ALL32(0x10000));
    const __m256i bias = ALL32(BOOTH_BIAS);
    int32_t more[LATE];
    for (int i = 0; i < late->count; i += 8) { /* those behind are computed, not used */
        __m256i weight = _mm256_srai_epi32(_mm256_slli_epi32(LOAD(late->weight + i), 16), 16);
        __m256i datum = LOAD(late->datum + i), x = _mm256_abs_epi32(datum);
        __m256i shift =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(late->shift + i)));
        __m256i sign = _mm256_srai_epi32(_mm256_xor_si256(weight, datum), 31);
        __m256i bits = AND(_mm256_xor_si256(TWICE(_mm256_abs_epi32(weight)), sign), 0x1ffff);
        __m256i negative = _mm256_andnot_si256(
            _mm256_and_si256(bits, _mm256_srli_epi32(bits, 1)), _mm256_srli_epi32(bits, 2));
        REDUCE(__m256i, ROW, OR, AND, XOR3, MAJORITY, TWICE)
        __m256i found = _mm256_sub_epi32(
            _mm256_add_epi32(SHIFTED(u1, shift), SHIFTED(e1, shift)), SHIFTED(bias, shift));
        __m256i quotient = _mm256_srav_epi32(_mm256_mullo_epi32(weight, datum), shift);
        STORE(more + i, _mm256_sub_epi32(found, quotient));
    }
    for (int i = 0; i < late->count; i++)
        sums[late->place[i] / KERNELS].sum[late->place[i] % KERNELS] += more[i];
    late->count = 0;
}

/* Notes down the products of a pixel that `marks` has bits for. */
AVX2_BITS static void note_late(struct chunk *chunk, size_t pixel)
{
    static const uint8_t of_parts[KERNELS] = { /* where `factor` has a kernel */
        0, 1, 2, 3, 8,  9,  10, 11, 16, 17, 18, 19, 24, 25, 26, 27,
        4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31};
    const struct data *data = &chunk->data[pixel];
    const struct marks *marks = &chunk->marks;
    struct late *late = &chunk->late;
    int count = late->count;
    for (int i = 0; i < data->count; i++) {
        const struct datum *datum = &data->item[i];
        const int32_t *factor = chunk->weights.factor[datum->index][0];
        uint32_t found = marks->late[i];
        int last = count + __builtin_popcount(found);
        do { /* seldom more than two: these are written without asking */
            for (int n = count; n < count + 2; n++, found &= found - 1) {
                int k = __builtin_ctz(found | 0x80000000u);
                late->weight[n] = factor[of_parts[k]];
                late->datum[n] = datum->factor;
                late->shift[n] = marks->shift[i][k];
                late->place[n] = (uint16_t)(pixel * KERNELS + (size_t)k);
            }
        } while ((count += 2) < last);
        count = last;
        if (count > LATE - KERNELS - 2) {
            late->count = count;
            add_late(late, chunk->sums);
            count = 0;
        }
    }
    late->count = count;
}

/* Ones where a product that is shifted by 8 has a carry, in bytes. */
AVX2_VECTORS INLINE __m256i carries_of(const struct datum *datum, const struct weights *weights)
{
    const uint8_t *table = datum->carries, *other = carries[0][0] + ((table - carries[0][0]) ^ 32);
    int at = datum->index;
    __m256i byte = LOAD(weights->byte[at]), upper = LOAD(weights->upper[at]);
    __m256i bit = LOAD(weights->bit[at]);
    __m256i same = _mm256_blendv_epi8(_mm256_shuffle_epi8(TWICE128(table), byte),
                                      _mm256_shuffle_epi8(TWICE128(table + 16), byte), upper);
    __m256i unlike = _mm256_blendv_epi8(_mm256_shuffle_epi8(TWICE128(other), byte),
                                        _mm256_shuffle_epi8(TWICE128(other + 16), byte), upper);
    __m256i found = _mm256_blendv_epi8(same, unlike, LOAD(weights->sign[at]));
    return _mm256_cmpeq_epi8(_mm256_and_si256(found, bit), bit);
}

/* Products of some data, shifted, added to sums of 32 bits; carries counted in bytes. */
AVX2_VECTORS INLINE void add_some(const struct data *data, int first, int last,
                                  const struct weights *weights, __m256i largest4, __m256i *sum,
                                  __m256i *counted, struct marks *marks)
{
    for (int i = first; i < last; i++) {
        const struct datum *datum = &data->item[i];
        int at = datum->index;
        __m256i shift = _mm256_subs_epi8(_mm256_sub_epi8(largest4, ALL32(datum->scales)),
                                         LOAD(weights->taken4[at]));
        __m256i carry = _mm256_and_si256(carries_of(datum, weights),
                                         _mm256_cmpeq_epi8(shift, _mm256_set1_epi8(8)));
        STORE(marks->shift[i], shift);
        marks->late[i] = (uint32_t)_mm256_movemask_epi8(
            _mm256_cmpgt_epi8(shift, _mm256_set1_epi8(NOT_LATE)));
        *counted = _mm256_sub_epi8(*counted, carry);
        __m256i factor = ALL32(datum->factor);
#pragma GCC unroll 4
        for (int part = 0; part < 4; part++) {
            __m256i product = _mm256_madd_epi16(factor, LOAD(weights->factor[at][part]));
            __m256i by = _mm256_shuffle_epi8(shift, LOAD(spread[part]));
            sum[part] = _mm256_add_epi32(sum[part], _mm256_srav_epi32(product, by));
        }
    }
}

/* Writes eight sums, of which `low` and `high` are parts, in the order of `spread`. */
AVX2_VECTORS INLINE void widen(int64_t *to, __m256i low, __m256i high)
{
    for (int half = 0; half < 2; half++) {
        __m128i l = half ? _mm256_extracti128_si256(low, 1) : _mm256_castsi256_si128(low);
        __m128i h = half ? _mm256_extracti128_si256(high, 1) : _mm256_castsi256_si128(high);
        STORE(to + 16 * half, _mm256_add_epi64(_mm256_slli_epi64(_mm256_cvtepi32_epi64(h), 16),
                                               _mm256_cvtepi32_epi64(l)));
    }
}

/* The sums of a step, and their scales; of products with larger shifts the true quotients. */
AVX2_VECTORS static void add_data(const struct data *data, const struct weights *weights,
                                  struct sums *sums, struct marks *marks)
{
    __m256i largest4 = _mm256_setzero_si256(), counted = largest4, low[4], high[4];
    for (int i = 0; i < data->count; i++) {
        const struct datum *datum = &data->item[i];
        __m256i scale4 = LOAD(weights->scale4[datum->index]);
        largest4 = _mm256_max_epi8(largest4, _mm256_add_epi8(scale4, ALL32(datum->scales)));
    }
    for (int part = 0; part < 4; part++)
        low[part] = high[part] = _mm256_setzero_si256();
    for (int first = 0; first < data->count; first += EXACT) {
        int last = data->count - first < EXACT ? data->count : first + EXACT;
        __m256i sum[4];
        for (int part = 0; part < 4; part++)
            sum[part] = _mm256_setzero_si256();
        add_some(data, first, last, weights, largest4, sum, &counted, marks);
        for (int part = 0; part < 4; part++) {
            low[part] = _mm256_add_epi32(low[part], _mm256_and_si256(sum[part], ALL32(0xffff)));
            high[part] = _mm256_add_epi32(high[part], _mm256_srai_epi32(sum[part], 16));
        }
    }
    for (int part = 0; part < 4; part++) {
        __m256i carried = _mm256_shuffle_epi8(counted, LOAD(spread[part]));
        __m256i scale = _mm256_srli_epi32(_mm256_shuffle_epi8(largest4, LOAD(spread[part])), 2);
        widen(sums->sum + 4 * part, _mm256_sub_epi32(low[part], carried), high[part]);
        __m128i *to = (__m128i *)(sums->scale + 4 * part);
        _mm_storeu_si128(to, _mm256_castsi256_si128(scale));
        _mm_storeu_si128(to + 4, _mm256_extracti128_si256(scale, 1));
    }
}

/* A step of one kernel whose weights or data have NaNs. */
static void add_nan(const struct sim_fp16_job *job, size_t step, size_t block, size_t width,
                    const uint16_t *base, const struct sums *sums, int64_t *mantissas,
                    int32_t *exponents)
{
    size_t first = (size_t)job->starts[step];
    int count = (int)(job->starts[step + 1] - job->starts[step]);
    for (size_t k = 0; k < width; k++) {
        const uint16_t *raw = job->raw + first * job->kernels + block + k;
        uint16_t found = find_nan(base, job->offsets + first, raw, job->kernels, count);
        if (found)
            put_nan(mantissas + k, exponents + k, found);
        else
            accumulate(mantissas + k, exponents + k, sums->sum[k], sums->scale[k]);
    }
}

static void one_step(const struct sim_fp16_job *job, struct chunk *chunk, size_t step,
                     const int64_t *pixels, size_t count, int64_t *mantissas, int32_t *exponents)
{
    size_t first = (size_t)job->starts[step], kernels = job->kernels;
    int products = (int)(job->starts[step + 1] - job->starts[step]);
    for (size_t p = 0; p < count; p++) {
        read_data(&chunk->data[p], job->frame + pixels[p], job->offsets + first, products);
        chunk->data[p].nan |= job->odd[step];
    }
    for (size_t block = 0; block < kernels; block += KERNELS) {
        size_t width = kernels - block < KERNELS ? kernels - block : KERNELS;
        const int32_t *packed = job->packed + first * kernels + block;
        read_weights(&chunk->weights, packed, kernels, products, width);
        for (size_t p = 0; p < count; p++) {
            add_data(&chunk->data[p], &chunk->weights, &chunk->sums[p], &chunk->marks);
            note_late(chunk, p);
        }
        add_late(&chunk->late, chunk->sums);
        for (size_t p = 0; p < count; p++) {
            int64_t *mantissa = mantissas + p * kernels + block;
            int32_t *exponent = exponents + p * kernels + block;
            const struct sums *sums = &chunk->sums[p];
            if (chunk->data[p].nan)
                add_nan(job, step, block, width, job->frame + pixels[p], sums, mantissa, exponent);
            else
                accumulate_256(mantissa, exponent, sums->sum, sums->scale, width);
        }
    }
}

static int some_pixels(const struct sim_fp16_job *job, size_t *next)
{
    size_t lanes = CHUNK * job->kernels;
    struct chunk *chunk = aligned_alloc(64, (sizeof *chunk + 63) / 64 * 64);
    int64_t *mantissas = malloc(lanes * sizeof *mantissas);
    int32_t *exponents = malloc(lanes * sizeof *exponents);
    int failed = chunk == NULL || mantissas == NULL || exponents == NULL;
    find_carries();
    if (!failed)
        chunk->late = (struct late){0};
    while (!failed) {
        size_t first = __atomic_fetch_add(next, CHUNK, __ATOMIC_RELAXED);
        if (first >= job->pixel_count)
            break;
        size_t count = job->pixel_count - first < CHUNK ? job->pixel_count - first : CHUNK;
        for (size_t i = 0; i < count * job->kernels; i++) {
            mantissas[i] = 0;
            exponents[i] = 0;
        }
        for (size_t step = 0; step < job->steps; step++)
            one_step(job, chunk, step, job->pixels + first, count, mantissas, exponents);
        for (size_t i = 0; i < count * job->kernels; i++)
            job->results[first * job->kernels + i] = to_single(mantissas[i], exponents[i]);
    }
    free(chunk);
    free(mantissas);
    free(exponents);
    return failed;
}

static int supported(void)
{
    return (sim_cpu() & SIM_CPU_AVX2) != 0;
}

const Fp16Instructions sim_fp16_avx2 = {
    .name = "avx2", .supported = supported, .some_pixels = some_pixels};

#endif
