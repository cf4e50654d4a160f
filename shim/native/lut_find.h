/* Where values fall in the two tables of a LUT, and which of them decides. */
#ifndef CUDLA_SIM_LUT_FIND_H
#define CUDLA_SIM_LUT_FIND_H

#include "native/bits.h"
#include "native/int_lut.h"

struct lut_index {
    double le_start, lo_start, le_scale, lo_scale, exponent;
    uint64_t under, over, hybrid;
};

BITS_INLINE struct lut_index lut_index(const struct sim_lut *lut)
{
    return (struct lut_index){
        lut->start[0],    lut->start[1],   lut->scale[0],    lut->scale[1], lut->exponent,
        FLAG(lut->under), FLAG(lut->over), FLAG(lut->hybrid)};
}

/* Flags are all ones or zero. `lo`: it decides; `below`, `above`: a value is beside that table;
 * `index` of the entry (LO's behind LE's), and the fraction. */
struct lut_found {
    uint64_t lo, below, above, index;
    uint64_t le_miss, lo_miss, both_under, both_over;
    double part;
};

/* By the distances from the tables' starts. */
BITS_INLINE struct lut_found lut_find(const struct lut_index *lut, double le, double lo,
                                      const int linear)
{
    const uint64_t fraction = ((uint64_t)1 << 52) - 1;
    const double hidden = 0x1p52; /* what is below is an integer */
    struct lut_found f;
    uint64_t le_under = FLAG(!(le > 0)), lo_under = FLAG(!(lo > 0));
    double lo_at = lo * lut->lo_scale, lo_whole = __builtin_floor(lo_at);
    uint64_t lo_over = FLAG(lo_whole >= 256) & ~lo_under;
    double le_whole, le_part;
    if (linear) {
        double at = le * lut->le_scale;
        le_whole = __builtin_floor(at);
        le_part = at - le_whole;
    } else { /* exponent and mantissa of the distance */
        uint64_t bits = bits_of(choose(le_under, 1.0, le));
        le_whole = number_of(bits >> 52 | (uint64_t)0x433 << 52) - (hidden + 1023) - lut->exponent;
        le_part = number_of((bits & fraction) | (uint64_t)0x3ff << 52) - 1.0;
        le_under |= FLAG(le_whole < 0);
    }
    uint64_t le_over = FLAG(le_whole >= 64) & ~le_under;
    f.le_miss = le_under | le_over;
    f.lo_miss = lo_under | lo_over;
    uint64_t one = f.le_miss ^ f.lo_miss; /* only one hits */
    f.both_under = le_under & lo_under;
    f.both_over = le_over & lo_over;
    f.lo = (one & f.le_miss) | (f.both_under & lut->under) | (f.both_over & lut->over) |
           (~(one | f.both_under | f.both_over) & lut->hybrid);
    f.below = (lo_under & f.lo) | (le_under & ~f.lo);
    f.above = (lo_over & f.lo) | (le_over & ~f.lo);
    double whole = choose(f.lo, lo_whole + SIM_LE_ENTRIES, le_whole);
    f.part = choose(f.lo, lo_at - lo_whole, le_part);
    whole = choose(f.below | f.above, 0.0, whole);
    f.index = bits_of(whole + hidden) & fraction;
    return f;
}

/* [table][side] of four numbers. */
BITS_INLINE double corner(const double numbers[2][2], uint64_t which, uint64_t side)
{
    return choose(which, choose(side, numbers[1][1], numbers[1][0]),
                  choose(side, numbers[0][1], numbers[0][0]));
}

/* Counts in the loop are flags that are subtracted. */
#define LUT_COUNTERS uint64_t le_sum = 0, lo_sum = 0, under_sum = 0, over_sum = 0
#define LUT_COUNT(f, cdp)                                                              \
    do {                                                                               \
        le_sum -= ~(f).le_miss & ((cdp) ? (f).lo_miss : ~(uint64_t)0);                 \
        lo_sum -= ~(f).lo_miss & ((cdp) ? (f).le_miss : ~(uint64_t)0);                 \
        under_sum -= (cdp) ? (f).both_under : (f).below;                               \
        over_sum -= (cdp) ? (f).both_over : (f).above;                                 \
    } while (0)
#define LUT_COUNTED(counts, count)              \
    do {                                        \
        (counts)->le += (int64_t)le_sum;        \
        (counts)->lo += (int64_t)lo_sum;        \
        (counts)->under += (int64_t)under_sum;  \
        (counts)->over += (int64_t)over_sum;    \
        (counts)->all += (count);               \
    } while (0)

#endif
