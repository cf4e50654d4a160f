/* Look-up tables on integers: the arithmetic of nvdla/hw/units/{sdp,cdp}/reference, number by
 * number. Distances have at most 39 bits and fractions 35, so double holds all that matters.
 *
 * Source of the rules: nvdla/hw cmod/hls/sdp/sdp_y_idx.cpp, sdp_y_inp.cpp, sdp_y_lut.cpp and
 * cmod/cdp/NV_NVDLA_cdp.cpp.
 */
#include "native/int_lut.h"

#include "native/cpu.h"
#include "native/lut_find.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

#define INLINE static inline __attribute__((always_inline))

INLINE double clip(double value, double low, double high)
{
    value = value < low ? low : value;
    return value > high ? high : value;
}

INLINE double rounded(double value)
{
    return __builtin_trunc(value + __builtin_copysign(0.5, value));
}

INLINE void apply(const struct sim_lut *lut, double *restrict values, int count,
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
