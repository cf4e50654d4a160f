/* Look-up tables in fp16 processing: the arithmetic of nvdla/hw/units/{sdp,cdp}/reference.
 *
 * Source of the rules: nvdla/hw cmod/hls/sdp/sdp_y_idx.cpp, sdp_y_inp.cpp and
 * cmod/cdp/NV_NVDLA_cdp.cpp.
 */
#include "native/half_lut.h"

#include <math.h>

#include "native/cpu.h"
#include "native/half.h"
#include "native/half_17.h"
#include "native/lut_find.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

/* Number of an FP32 number; below the least normal one it is rounded where a denormal would be. */
INLINE double to_fp17(double value)
{
    double size = number_of(bits_of(value) & ~SIGN);
    double small = choose(FLAG(size >= FP17.least - 0x1p-41), FP17.least, 0.0);
    double result = choose(FLAG(size < FP17.least), signed_as(small, value),
                           to_format(value, FP17));
    return choose(FLAG(value != value), value, result);
}

/* Between two entries. SDP weighs both, CDP adds a part of their difference. */
INLINE double between(double low, double high, double part, const int cdp)
{
    if (cdp) {
        double step = to_fp17(half_add(high, -low, FP32));
        return half_add(half_multiply(step, to_format(part, FP17), FP17), low, FP17);
    }
    double first = half_multiply(to_format(1.0 - part, FP17), low, FP17);
    return half_add(first, half_multiply(to_format(part, FP17), high, FP17), FP17);
}

INLINE void apply_any(const struct sim_lut *lut, double *restrict values, int count,
                      struct sim_lut_counts *counts, const int cdp, const int linear)
{
    const struct lut_index where = lut_index(lut);
    const double share = cdp ? 0x1p16 : 0x1p35, unit = cdp ? 0x1p-16 : 0x1p-35;
    const double origins[2][2] = {{lut->origin[0][0], lut->origin[0][1]},
                                  {lut->origin[1][0], lut->origin[1][1]}};
    const double slopes[2][2] = {{lut->slope[0][0], lut->slope[0][1]},
                                 {lut->slope[1][0], lut->slope[1][1]}};
    const double *restrict entries = lut->entries;
    const double ends[2][2] = {{entries[0], entries[SIM_LE_ENTRIES - 1]},
                               {entries[SIM_LE_ENTRIES], entries[SIM_LUT_ENTRIES - 1]}};
    LUT_COUNTERS;
    for (int i = 0; i < count; i++) {
        double value = values[i];
        struct lut_found f = lut_find(&where, half_add(value, -where.le_start, FP32),
                                      half_add(value, -where.lo_start, FP32), linear);
        double part = __builtin_floor(f.part * share) * unit;
        double inside = between(entries[f.index], entries[f.index + 1], part, cdp);

        double away = half_add(value, -corner(origins, f.lo, f.above), FP32);
        double step = half_multiply(to_fp17(away), corner(slopes, f.lo, f.above), FP17);
        double outside = half_add(corner(ends, f.lo, f.above), step, FP17);
        values[i] = choose(f.below | f.above, outside, inside);

        LUT_COUNT(f, cdp);
    }
    LUT_COUNTED(counts, count);
}

/* --- where a table has the value ------------------------------------------------------------- */

#include "native/lut_few.h"

/* The difference of two FP32 numbers: what is below the least normal one is 0. */
INLINE float away_from(float value, float start)
{
    float away = value - start;
    return single_of(single_bits(away) & FLAG32((single_bits(away) & 0x7fffffff) >= 0x00800000));
}

/* 1 - part to FP17. Rounded twice it could be wrong: what float cannot hold moves it from the middle of two
 * numbers. */
INLINE float rest_of(float part)
{
    float rest = 1.0f - part, lost = (1.0f - rest) - part;
    uint32_t bits = single_bits(rest), even = FLAG32((bits & 1) == 0);
    bits += (FLAG32(lost < 0) & even) | (1 & FLAG32(lost > 0) & even);
    return to_17(single_of(bits), bits);
}

/* Distances from LE's start that lie in it: from the first to the last number. */
static void le_reach(const struct sim_lut *lut, float reach[2])
{
    int exponent = (int)lut->exponent;
    double end = lut->linear ? 64.0 / lut->scale[0] : ldexp(1.0, exponent + 64);
    double least = lut->linear ? 0.0 : ldexp(1.0, exponent);
    reach[0] = least < 0x1p-126 ? 0x1p-126f : (float)least;
    reach[1] = end <= 0x1p127 ? nextafterf((float)end, 0.0f) : lut->linear ? 0x1.fffffep127f : INFINITY;
}

/*
 * For these the rest need not be computed, and FP32 and FP17 are float (half_average.c says why). The others
 * of a part are left, if they are few. `lo_only`: where both tables have a number LO decides, and what LO has
 * not is of the others. 0: they are many.
 */
INLINE int apply_inside(const struct sim_lut *lut, double *restrict values,
                        struct sim_lut_counts *counts, struct few *others, const float *reach,
                        const int cdp, const int linear, const int lo_only)
{
    const float le_first = reach[0], le_last = reach[1];
    const float lo_start = (float)lut->start[1], le_start = (float)lut->start[0];
    const float lo_scale = (float)lut->scale[1], le_scale = (float)lut->scale[0];
    const float share = cdp ? 0x1p16f : 0x1p35f, unit = cdp ? 0x1p-16f : 0x1p-35f;
    const int32_t exponent = (int32_t)lut->exponent + 127;
    const uint32_t hybrid = FLAG32(lut->hybrid != 0);
    const float *restrict entries = lut->single_entries, *restrict steps = lut->single_steps;
    float part[LUT_PART], low[LUT_PART], high[LUT_PART], result[LUT_PART];
    int32_t index[LUT_PART];
    uint32_t missed[LUT_PART];
    int32_t misses = 0, le_hits = 0, lo_hits = 0, both = 0;
    for (int i = 0; i < LUT_PART; i++) {
        float value = (float)values[i];
        float lo = away_from(value, lo_start), le = away_from(value, le_start);
        float lo_at = lo * lo_scale, lo_whole = __builtin_floorf(lo_at);
        uint32_t lo_hit = FLAG32(lo > 0) & FLAG32(lo_at < 256);
        float le_whole = 0, le_part = 0;
        uint32_t le_hit;
        if (lo_only) {
            le_hit = FLAG32(le >= le_first) & FLAG32(le <= le_last) & lo_hit;
        } else if (linear) {
            float at = le * le_scale;
            le_whole = __builtin_floorf(at);
            le_part = at - le_whole;
            le_hit = FLAG32(le > 0) & FLAG32(at < 64);
        } else {
            uint32_t bits = single_bits(le);
            int32_t above = (int32_t)(bits >> 23 & 0xff) - exponent;
            le_whole = (float)above;
            le_part = single_of((bits & 0x7fffff) | 0x3f800000) - 1.0f;
            le_hit = FLAG32(le > 0) & FLAG32(above >= 0) & FLAG32(above < 64);
        }
        uint32_t by_lo = lo_hit & (hybrid | ~le_hit), miss = ~(lo_hit | le_hit);
        float whole = lo_only ? lo_whole + SIM_LE_ENTRIES
                              : choose_single(by_lo, lo_whole + SIM_LE_ENTRIES, le_whole);
        part[i] = lo_only ? lo_at - lo_whole : choose_single(by_lo, lo_at - lo_whole, le_part);
        part[i] = single_of(single_bits(__builtin_floorf(part[i] * share) * unit) & ~miss);
        index[i] = (int32_t)single_of(single_bits(whole) & ~miss);
        missed[i] = miss;
        misses -= (int32_t)miss;
        le_hits -= (int32_t)le_hit;
        lo_hits -= (int32_t)lo_hit;
        both -= (int32_t)(le_hit & lo_hit);
    }
    if (misses > LUT_FEW)
        return 0;
    for (int i = 0; i < LUT_PART && misses; i++)
        if (missed[i]) {
            others->values[others->count] = values[i];
            others->where[others->count++] = &values[i];
        }
    for (int i = 0; i < LUT_PART; i++) {
        low[i] = entries[index[i]];
        high[i] = cdp ? steps[index[i]] : entries[index[i] + 1];
    }
    for (int i = 0; i < LUT_PART; i++) {
        float share_17 = to_17(part[i], single_bits(part[i]));
        if (cdp)
            result[i] = add_17(multiply_17(high[i], share_17), low[i]);
        else
            result[i] = add_17(multiply_17(rest_of(part[i]), low[i]),
                               multiply_17(share_17, high[i]));
    }
    for (int i = 0; i < LUT_PART; i++)
        values[i] = result[i];
    counts->le += cdp ? le_hits - both : le_hits;
    counts->lo += cdp ? lo_hits - both : lo_hits;
    counts->all += LUT_PART - misses;
    return 1;
}

INLINE void apply(const struct sim_lut *lut, double *restrict values, int count,
                  struct sim_lut_counts *counts, const int cdp, const int linear)
{
    struct few few;
    int done = 0;
    float reach[2];
    few.count = 0;
    le_reach(lut, reach);
    for (; lut->singles && done + LUT_PART <= count; done += LUT_PART) {
        if (!(lut->hybrid && cdp ? apply_inside(lut, values + done, counts, &few, reach, 1, linear, 1)
                                 : apply_inside(lut, values + done, counts, &few, reach, cdp, linear, 0)))
            apply_any(lut, values + done, LUT_PART, counts, cdp, linear);
        if (few.count > FEW - LUT_FEW)
            apply_few(lut, &few, counts, cdp, linear);
    }
    apply_any(lut, values + done, count - done, counts, cdp, linear);
    apply_few(lut, &few, counts, cdp, linear);
}

static int is_single(double value)
{
    return (double)(float)value == value && value - value == 0;
}

void sim_half_lut_begin(struct sim_lut *lut)
{
    sim_lut_begin(lut);
    lut->singles = 1;
    for (int i = 0; i < 2; i++) {
        double scale = lut->scale[i];
        lut->singles &= is_single(lut->start[i]) && is_single(scale) && scale >= 0x1p-126;
    }
    for (int i = 0; i < SIM_LUT_ENTRIES; i++)
        lut->singles &= is_single(lut->entries[i]);
    for (int i = 0; lut->cdp && i + 1 < SIM_LUT_ENTRIES; i++)
        lut->steps[i] = to_fp17(half_add(lut->entries[i + 1], -lut->entries[i], FP32));
    for (int i = 0; lut->singles && i < SIM_LUT_ENTRIES; i++) {
        lut->single_entries[i] = (float)lut->entries[i];
        lut->single_steps[i] = (float)lut->steps[i];
    }
}

#define SIM_LUT_APPLY sim_half_lut_apply
#include "native/lut_apply.h"
