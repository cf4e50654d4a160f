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
