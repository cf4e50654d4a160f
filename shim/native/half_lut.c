/* Look-up tables in fp16 processing: the arithmetic of nvdla/hw/units/{sdp,cdp}/reference.
 *
 * Source of the rules: nvdla/hw cmod/hls/sdp/sdp_y_idx.cpp, sdp_y_inp.cpp and
 * cmod/cdp/NV_NVDLA_cdp.cpp.
 */
#include "native/half_lut.h"

#include "native/cpu.h"
#include "native/half.h"
#include "native/lut_find.h"

#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")

#define INLINE static inline __attribute__((always_inline))

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

INLINE void apply(const struct sim_lut *lut, double *restrict values, int count,
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

#define SIM_LUT_APPLY sim_half_lut_apply
#include "native/lut_apply.h"
