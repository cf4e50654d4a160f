/* Look-up tables on integers: the arithmetic of nvdla/hw/units/{sdp,cdp}/reference, number by
 * number. Distances have at most 39 bits and fractions 35, so double holds all that matters.
 *
 * Source of the rules: nvdla/hw cmod/hls/sdp/sdp_y_idx.cpp, sdp_y_inp.cpp, sdp_y_lut.cpp and
 * cmod/cdp/NV_NVDLA_cdp.cpp.
 */
#include "native/int_lut.h"

#include <math.h>

#include "native/cpu.h"
#include "native/lut_find.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

INLINE double clip(double value, double low, double high)
{
    value = value < low ? low : value;
    return value > high ? high : value;
}

INLINE double rounded(double value)
{
    return __builtin_trunc(value + __builtin_copysign(0.5, value));
}

INLINE void apply_any(const struct sim_lut *lut, double *restrict values, int count,
                      struct sim_lut_counts *counts, const int cdp, const int linear)
{
    const struct lut_index where = lut_index(lut);
    const double share = cdp ? 65536.0 : 34359738368.0;
    const double unit = cdp ? 1.0 / 65536 : 1.0 / 34359738368.0;
    const double low = -lut->limit, high = lut->limit - 1;
    const double origins[2][2] = {{lut->origin[0][0], lut->origin[0][1]},
                                  {lut->origin[1][0], lut->origin[1][1]}};
    const double slopes[2][2] = {{lut->slope[0][0], lut->slope[0][1]},
                                 {lut->slope[1][0], lut->slope[1][1]}};
    const double *restrict entries = lut->entries, *restrict steps = lut->steps;
    const double ends[2][2] = {{entries[0], entries[SIM_LE_ENTRIES - 1]},
                               {entries[SIM_LE_ENTRIES], entries[SIM_LUT_ENTRIES - 1]}};
    LUT_COUNTERS;
    for (int i = 0; i < count; i++) {
        double value = values[i];
        struct lut_found f = lut_find(&where, value - where.le_start, value - where.lo_start, linear);
        uint64_t index = f.index;
        double part = f.part;
        part = __builtin_floor(part * share) * unit;
        double entry = entries[index], step = steps[index] * part;
        double inside = cdp ? entry + rounded(step) : rounded(entry + step);

        double away = (value - corner(origins, f.lo, f.above)) * corner(slopes, f.lo, f.above);
        double outside = clip(rounded(away), -2147483648.0, 2147483647.0);
        outside += corner(ends, f.lo, f.above);
        values[i] = clip(choose(f.below | f.above, outside, inside), low, high);

        LUT_COUNT(f, cdp);
    }
    LUT_COUNTED(counts, count);
}

/* Whether the value is in LE: nothing else is asked of it where LO decides. */
struct le {
    double start, scale, least, end;
};

INLINE int64_t in_le(const struct le *le, double value)
{
    double away = (value - le->start) * le->scale;
    return (int64_t)(FLAG(away > 0) & FLAG(away >= le->least) & FLAG(away < le->end));
}

#include "native/lut_few.h"

/*
 * Where a table has the value, what is beside tables need not be computed. If LO has priority LE's entries
 * need not either, else (`le_too`) LE is linear. The others of a part are left, if they are few. 0: they
 * are many.
 */
INLINE int apply_inside(const struct sim_lut *lut, double *restrict values,
                        struct sim_lut_counts *counts, struct few *others, const int cdp,
                        const int linear, const int le_too)
{
    const double share = cdp ? 65536.0 : 34359738368.0;
    const double unit = cdp ? 1.0 / 65536 : 1.0 / 34359738368.0;
    const double low = -lut->limit, high = lut->limit - 1;
    const double start = lut->start[1], scale = lut->scale[1];
    const struct le le = {lut->start[0], linear ? lut->scale[0] : 1.0,
                          linear ? 0.0 : ldexp(1.0, (int)lut->exponent),
                          linear ? 64.0 : ldexp(1.0, (int)lut->exponent + 64)};
    const double *restrict entries = lut->entries, *restrict steps = lut->steps;
    double at[LUT_PART], first[LUT_PART];
    int64_t missed = 0, le_hits = 0, lo_hits = 0, both = 0;
    int few = 0;
    for (int i = 0; i < LUT_PART; i++) {
        double lo_at = (values[i] - start) * scale;
        int64_t lo_hit = (int64_t)(FLAG(lo_at > 0) & FLAG(lo_at < 256));
        int64_t le_hit = in_le(&le, values[i]);
        if (le_too) {
            double le_at = (values[i] - le.start) * le.scale;
            at[i] = choose((uint64_t)le_hit, le_at, lo_at);
            first[i] = choose((uint64_t)le_hit, 0.0, (double)SIM_LE_ENTRIES);
            missed -= ~(lo_hit | le_hit);
        } else {
            at[i] = lo_at;
            first[i] = SIM_LE_ENTRIES;
            missed -= ~lo_hit;
            le_hit &= lo_hit; /* of the others nothing is counted here */
        }
        le_hits -= le_hit;
        lo_hits -= lo_hit;
        both -= le_hit & lo_hit;
    }
    if (missed > LUT_FEW)
        return 0;
    for (int i = 0; i < LUT_PART && few < missed; i++)
        if (!(at[i] > 0) || !(at[i] < 256)) {
            others->values[others->count] = values[i];
            others->where[others->count++] = &values[i];
            at[i] = 0;
            few++;
        }
    for (int i = 0; i < LUT_PART; i++) {
        double whole = __builtin_floor(at[i]);
        int32_t index = (int32_t)(whole + first[i]);
        double part = __builtin_floor((at[i] - whole) * share) * unit;
        double entry = entries[index], step = steps[index] * part;
        values[i] = clip(cdp ? entry + rounded(step) : rounded(entry + step), low, high);
    }
    counts->le += cdp ? le_hits - both : le_hits;
    counts->lo += cdp ? lo_hits - both : lo_hits;
    counts->all += LUT_PART - few;
    return 1;
}

INLINE void apply(const struct sim_lut *lut, double *restrict values, int count,
                  struct sim_lut_counts *counts, const int cdp, const int linear)
{
    struct few few;
    int done = 0;
    few.count = 0;
    for (; (lut->hybrid || linear) && done + LUT_PART <= count; done += LUT_PART) {
        int known = lut->hybrid ? apply_inside(lut, values + done, counts, &few, cdp, linear, 0)
                                : linear && apply_inside(lut, values + done, counts, &few, cdp, 1, 1);
        if (!known)
            apply_any(lut, values + done, LUT_PART, counts, cdp, linear);
        if (few.count > FEW - LUT_FEW)
            apply_few(lut, &few, counts, cdp, linear);
    }
    apply_any(lut, values + done, count - done, counts, cdp, linear);
    apply_few(lut, &few, counts, cdp, linear);
}

#define SIM_LUT_APPLY sim_lut_apply
#include "native/lut_apply.h"

/* --- results of 32 bits ---------------------------------------------------------------------- */

static int32_t cut_32(double value)
{
    return (int32_t)clip(value, -2147483648.0, 2147483647.0);
}

int sim_lut_brief(const struct sim_lut *lut, struct sim_lut_brief *brief)
{
    int exponent;
    if (!lut->cdp || !lut->hybrid)
        return 0;
    for (int i = 0; i < SIM_LUT_ENTRIES; i++) {
        double entry = lut->entries[i], step = lut->steps[i];
        if (entry < -32768 || entry > 32767 || entry != __builtin_trunc(entry))
            return 0;
        brief->entries[i] = (int32_t)entry;
        if (i >= SIM_LE_ENTRIES && (step < -32767 || step > 32767)) /* its products have 32 bits */
            return 0;
        brief->steps[i] = i >= SIM_LE_ENTRIES ? (int32_t)step : 0;
    }
    brief->lut = lut;
    brief->start = lut->start[1];
    brief->scale = lut->scale[1];
    /* Integers: what is above a number is so by 1. */
    double least = lut->linear ? 0.0 : ldexp(1.0, (int)lut->exponent);
    brief->from[0] = __builtin_ceil(lut->start[0] + (least < 1.0 ? 1.0 : least));
    brief->to[0] = __builtin_ceil(lut->start[0] + (lut->linear ? 64.0 / lut->scale[0]
                                                               : ldexp(1.0, (int)lut->exponent + 64)));
    brief->from[1] = lut->start[1] + 1.0;
    brief->to[1] = __builtin_ceil(lut->start[1] + 256.0 / lut->scale[1]);
    for (int i = 0; i < 2; i++) {
        brief->from_32[i] = cut_32(brief->from[i]);
        brief->to_32[i] = cut_32(brief->to[i]);
    }
    brief->start_32 = cut_32(brief->start);
    brief->shift = 1 - frexp(brief->scale, &exponent) * 2.0 == 0 ? 1 - exponent - 16 : 32;
    brief->narrow = brief->start >= -0x1p28 && brief->start <= 0x1p28 && brief->shift >= -16 &&
                    brief->shift < 16;
    return 1;
}

/* Of one part, of the numbers in `values`, or in `narrow`. */
INLINE void look_up_part(const struct sim_lut_brief *brief, const double *values, const int32_t *narrow,
                         const int is_narrow, int32_t *restrict results, struct sim_lut_counts *counts)
{
    const double share = brief->scale * 65536.0, start = brief->start;
    const double from[2] = {brief->from[0], brief->from[1]}, to[2] = {brief->to[0], brief->to[1]};
    const int32_t from_32[2] = {brief->from_32[0], brief->from_32[1]};
    const int32_t to_32[2] = {brief->to_32[0], brief->to_32[1]};
    const int32_t start_32 = brief->start_32;
    const int right = brief->shift > 0 ? brief->shift : 0, left = brief->shift < 0 ? -brief->shift : 0;
    const int32_t *restrict entries = brief->entries + SIM_LE_ENTRIES;
    const int32_t *restrict steps = brief->steps + SIM_LE_ENTRIES;
    int32_t at[LUT_PART], missed[LUT_PART], products[LUT_PART], lo = 0, both = 0;
    if (is_narrow)
        for (int i = 0; i < LUT_PART; i++) {
            int32_t in_le = -(narrow[i] >= from_32[0]) & -(narrow[i] < to_32[0]);
            int32_t in_lo = -(narrow[i] >= from_32[1]) & -(narrow[i] < to_32[1]);
            at[i] = ((int32_t)((uint32_t)(narrow[i] - start_32) << left) >> right) & in_lo;
            missed[i] = ~in_lo;
            lo -= in_lo;
            both -= in_le & in_lo;
        }
    else
        for (int i = 0; i < LUT_PART; i++) {
            uint64_t in_le = FLAG(values[i] >= from[0]) & FLAG(values[i] < to[0]);
            uint64_t in_lo = FLAG(values[i] >= from[1]) & FLAG(values[i] < to[1]);
            at[i] = (int32_t)choose(in_lo, (values[i] - start) * share, 0.0);
            missed[i] = (int32_t)~in_lo;
            lo -= (int32_t)in_lo;
            both -= (int32_t)(in_le & in_lo);
        }
    if (LUT_PART - lo > LUT_FEW) {
        double copy[LUT_PART];
        for (int i = 0; i < LUT_PART; i++)
            copy[i] = is_narrow ? narrow[i] : values[i];
        sim_lut_apply(brief->lut, copy, LUT_PART, counts);
        for (int i = 0; i < LUT_PART; i++)
            results[i] = (int32_t)copy[i];
        return;
    }
    for (int i = 0; i < LUT_PART; i++) {
        results[i] = entries[at[i] >> 16];
        products[i] = steps[at[i] >> 16] * (at[i] & 0xffff);
    }
    for (int i = 0; i < LUT_PART; i++) /* half away from 0 */
        results[i] += (products[i] + (1 << 15) + (products[i] >> 31)) >> 16;
    if (lo < LUT_PART) {
        double others[LUT_FEW];
        int few = 0, took = 0;
        for (int i = 0; i < LUT_PART; i++)
            if (missed[i])
                others[few++] = is_narrow ? narrow[i] : values[i];
        sim_lut_apply(brief->lut, others, few, counts);
        for (int i = 0; i < LUT_PART; i++)
            if (missed[i])
                results[i] = (int32_t)others[took++];
    }
    counts->lo += lo - both; /* those in both are in none alone */
    counts->all += lo;
}

INLINE void look_up(const struct sim_lut_brief *brief, const double *values, const int32_t *narrow,
                    const int is_narrow, int32_t *results, int count, struct sim_lut_counts *counts)
{
    int done = 0;
    for (; done + LUT_PART <= count; done += LUT_PART)
        look_up_part(brief, is_narrow ? NULL : values + done, is_narrow ? narrow + done : NULL, is_narrow,
                     results + done, counts);
    double rest[LUT_PART];
    for (int i = done; i < count; i++)
        rest[i - done] = is_narrow ? narrow[i] : values[i];
    sim_lut_apply(brief->lut, rest, count - done, counts);
    for (int i = done; i < count; i++)
        results[i] = (int32_t)rest[i - done];
}

INLINE void look_up_doubles_body(const struct sim_lut_brief *brief, const double *values, int32_t *results,
                                 int count, struct sim_lut_counts *counts)
{
    look_up(brief, values, NULL, 0, results, count, counts);
}

INLINE void look_up_32_body(const struct sim_lut_brief *brief, const int32_t *values, int32_t *results,
                            int count, struct sim_lut_counts *counts)
{
    look_up(brief, NULL, values, 1, results, count, counts);
}

LEVELS(void, look_up_doubles,
       (const struct sim_lut_brief *brief, const double *values, int32_t *results, int count,
        struct sim_lut_counts *counts),
       (brief, values, results, count, counts))
LEVELS(void, look_up_32,
       (const struct sim_lut_brief *brief, const int32_t *values, int32_t *results, int count,
        struct sim_lut_counts *counts),
       (brief, values, results, count, counts))

void sim_lut_look_up(const struct sim_lut_brief *brief, const double *values, int32_t *results, int count,
                     struct sim_lut_counts *counts)
{
    look_up_doubles(brief, values, results, count, counts);
}

void sim_lut_look_up_32(const struct sim_lut_brief *brief, const int32_t *values, int32_t *results,
                        int count, struct sim_lut_counts *counts)
{
    look_up_32(brief, values, results, count, counts);
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
