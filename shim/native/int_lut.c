/* Look-up tables on integers: the arithmetic of nvdla/hw/units/sdp_lut.py and cdp.py, number by
 * number. Distances have at most 39 bits and fractions 35, so double holds all that matters.
 *
 * Source of the rules: nvdla/hw cmod/hls/sdp/sdp_y_idx.cpp, sdp_y_inp.cpp, sdp_y_lut.cpp and
 * cmod/cdp/NV_NVDLA_cdp.cpp.
 */
#include "native/int_lut.h"

#include "native/cpu.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

#define INLINE static inline __attribute__((always_inline))

typedef union {
    double number;
    uint64_t bits;
} Double;

INLINE double clip(double value, double low, double high)
{
    value = value < low ? low : value;
    return value > high ? high : value;
}

INLINE double rounded(double value)
{
    return __builtin_trunc(value + __builtin_copysign(0.5, value));
}

INLINE uint64_t bits_of(double value)
{
    Double it = {value};
    return it.bits;
}

INLINE double number_of(uint64_t bits)
{
    Double it = {.bits = bits};
    return it.number;
}

static const uint64_t FRACTION = ((uint64_t)1 << 52) - 1, ONE = (uint64_t)0x3ff << 52;
static const uint64_t HIDDEN = (uint64_t)0x433 << 52; /* 2^52: what is below is an integer */
static const double HIDDEN_ONE = 4503599627370496.0;

/* Flags are all ones or zero, and what depends on them is chosen without a branch: with one the
 * compiler makes no vectors. */
#define FLAG(condition) (0 - (uint64_t)(condition))

INLINE double choose(uint64_t flag, double yes, double no)
{
    return number_of((bits_of(yes) & flag) | (bits_of(no) & ~flag));
}

/* [which][side] of four numbers. */
INLINE double corner(const double numbers[2][2], uint64_t which, uint64_t side)
{
    return choose(which, choose(side, numbers[1][1], numbers[1][0]),
                  choose(side, numbers[0][1], numbers[0][0]));
}

INLINE void apply(const struct sim_lut *lut, double *restrict values, int count,
                  struct sim_lut_counts *counts, const int cdp, const int linear)
{
    const double le_start = lut->start[0], lo_start = lut->start[1];
    const double le_scale = lut->scale[0], lo_scale = lut->scale[1], first = lut->exponent;
    const double share = cdp ? 65536.0 : 34359738368.0;
    const double unit = cdp ? 1.0 / 65536 : 1.0 / 34359738368.0;
    const double low = -lut->limit, high = lut->limit - 1;
    const uint64_t when_under = FLAG(lut->under), when_over = FLAG(lut->over);
    const uint64_t when_both = FLAG(lut->hybrid);
    const double origins[2][2] = {{lut->origin[0][0], lut->origin[0][1]},
                                  {lut->origin[1][0], lut->origin[1][1]}};
    const double slopes[2][2] = {{lut->slope[0][0], lut->slope[0][1]},
                                 {lut->slope[1][0], lut->slope[1][1]}};
    const double *restrict entries = lut->entries, *restrict steps = lut->steps;
    const double ends[2][2] = {{entries[0], entries[SIM_LE_ENTRIES - 1]},
                               {entries[SIM_LE_ENTRIES], entries[SIM_LUT_ENTRIES - 1]}};
    uint64_t le_sum = 0, lo_sum = 0, under_sum = 0, over_sum = 0;
    for (int i = 0; i < count; i++) {
        double value = values[i];
        double le = value - le_start, lo = value - lo_start;
        uint64_t le_under = FLAG(!(le > 0)), lo_under = FLAG(!(lo > 0));
        double lo_at = lo * lo_scale, lo_whole = __builtin_floor(lo_at);
        uint64_t lo_over = FLAG(lo_whole >= 256) & ~lo_under;
        double le_whole, le_part;
        if (linear) {
            double at = le * le_scale;
            le_whole = __builtin_floor(at);
            le_part = at - le_whole;
        } else {
            uint64_t bits = bits_of(choose(le_under, 1.0, le));
            le_whole = number_of(bits >> 52 | HIDDEN) - (HIDDEN_ONE + 1023) - first;
            le_part = number_of((bits & FRACTION) | ONE) - 1.0;
            le_under |= FLAG(le_whole < 0);
        }
        uint64_t le_over = FLAG(le_whole >= 64) & ~le_under;
        uint64_t le_miss = le_under | le_over, lo_miss = lo_under | lo_over;
        uint64_t one = le_miss ^ lo_miss; /* only one hits */
        uint64_t both_under = le_under & lo_under, both_over = le_over & lo_over;
        uint64_t use_lo = (one & le_miss) | (both_under & when_under) | (both_over & when_over) |
                          (~(one | both_under | both_over) & when_both);

        uint64_t below = (lo_under & use_lo) | (le_under & ~use_lo);
        uint64_t above = (lo_over & use_lo) | (le_over & ~use_lo);
        double whole = choose(use_lo, lo_whole + SIM_LE_ENTRIES, le_whole);
        double part = choose(use_lo, lo_at - lo_whole, le_part);
        whole = choose(below | above, 0.0, whole);
        uint64_t index = bits_of(whole + HIDDEN_ONE) & FRACTION;
        part = __builtin_floor(part * share) * unit;
        double entry = entries[index], step = steps[index] * part;
        double inside = cdp ? entry + rounded(step) : rounded(entry + step);

        double away = (value - corner(origins, use_lo, above)) * corner(slopes, use_lo, above);
        double outside = clip(rounded(away), -2147483648.0, 2147483647.0);
        outside += corner(ends, use_lo, above);
        values[i] = clip(choose(below | above, outside, inside), low, high);

        le_sum -= ~le_miss & (cdp ? one : ~(uint64_t)0);
        lo_sum -= ~lo_miss & (cdp ? one : ~(uint64_t)0);
        under_sum -= cdp ? both_under : below;
        over_sum -= cdp ? both_over : above;
    }
    counts->le += (int64_t)le_sum;
    counts->lo += (int64_t)lo_sum;
    counts->under += (int64_t)under_sum;
    counts->over += (int64_t)over_sum;
    counts->all += count;
}

INLINE void apply_kind(const struct sim_lut *lut, double *values, int count,
                       struct sim_lut_counts *counts)
{
    if (lut->cdp && lut->linear)
        apply(lut, values, count, counts, 1, 1);
    else if (lut->cdp)
        apply(lut, values, count, counts, 1, 0);
    else if (lut->linear)
        apply(lut, values, count, counts, 0, 1);
    else
        apply(lut, values, count, counts, 0, 0);
}

#define APPLY(name, attributes)                                                          \
    attributes static void name(const struct sim_lut *lut, double *values, int count,    \
                                struct sim_lut_counts *counts)                           \
    {                                                                                    \
        apply_kind(lut, values, count, counts);                                          \
    }

APPLY(apply_plain, )

#if defined(__x86_64__)
#if defined(__clang__)
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), min_vector_width(512)))
#else
#define WIDE \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
APPLY(apply_512, WIDE)
APPLY(apply_256, __attribute__((target("avx2"))))
#endif

void sim_lut_apply(const struct sim_lut *lut, double *values, int count,
                   struct sim_lut_counts *counts)
{
#if defined(__x86_64__)
    int cpu = sim_cpu();
    if (cpu & SIM_CPU_AVX512) {
        apply_512(lut, values, count, counts);
        return;
    }
    if (cpu & SIM_CPU_AVX2) {
        apply_256(lut, values, count, counts);
        return;
    }
#endif
    apply_plain(lut, values, count, counts);
}

void sim_lut_begin(struct sim_lut *lut)
{
    lut->under_count = lut->over_count = lut->hybrid_count = lut->le_count = lut->lo_count = 0;
}

void sim_lut_add(struct sim_lut *lut, const struct sim_lut_counts *counts)
{
    int64_t hybrid = counts->all - counts->under - counts->over;
    if (lut->cdp)
        hybrid -= counts->le + counts->lo;
    __atomic_fetch_add(&lut->under_count, counts->under, __ATOMIC_RELAXED);
    __atomic_fetch_add(&lut->over_count, counts->over, __ATOMIC_RELAXED);
    __atomic_fetch_add(&lut->hybrid_count, hybrid, __ATOMIC_RELAXED);
    __atomic_fetch_add(&lut->le_count, counts->le, __ATOMIC_RELAXED);
    __atomic_fetch_add(&lut->lo_count, counts->lo, __ATOMIC_RELAXED);
}
