/* The floating-point formats of fp16 processing on doubles: the arithmetic of nvdla/hw/floats.py.
 *
 * Every number of FP16, FP17 and FP32 is a double; a NaN has its mantissa in the double's low bits.
 * Nothing here branches, so that loops become vectors.
 *
 * Source of the rules: nvdla/hw cmod/hls/include/nvdla_float.h.
 */
#ifndef CUDLA_SIM_HALF_H
#define CUDLA_SIM_HALF_H

#include <stdint.h>

#include "native/bits.h"

static const uint64_t SIGN = (uint64_t)1 << 63, QUIET = (uint64_t)0x7ff8 << 48;

/* Magnitude of one number, sign of another. */
BITS_INLINE double signed_as(double size, double sign)
{
    return number_of((bits_of(size) & ~SIGN) | (bits_of(sign) & SIGN));
}

/* Value of a pattern; an infinity becomes `infinity`. */
BITS_INLINE double half_value(uint16_t pattern, double infinity)
{
    uint64_t size = pattern & 0x7fff, sign = (uint64_t)(pattern >> 15) << 63;
    uint64_t normal = (size << 42) + ((uint64_t)(1023 - 15) << 52);
    double small = number_of(size | (uint64_t)0x433 << 52) - 4503599627370496.0; /* size */
    uint64_t bits = bits_of(choose(FLAG(size < 0x400), small * 0x1p-24, number_of(normal)));
    uint64_t last = FLAG(size == 0x7c00), nan = FLAG(size > 0x7c00);
    bits = (bits & ~(last | nan)) | (bits_of(infinity) & last) | ((QUIET | (size & 0x3ff)) & nan);
    return number_of(bits | sign);
}

/* Value of an FP32 pattern of a convolution: there are no denormals and no infinities. */
BITS_INLINE double single_value(uint32_t pattern)
{
    uint64_t size = pattern & 0x7fffffff, sign = (uint64_t)(pattern >> 31) << 63;
    uint64_t normal = ((size << 29) + ((uint64_t)(1023 - 127) << 52)) & FLAG(size != 0);
    uint64_t nan = FLAG(size > 0x7f800000);
    return number_of((normal & ~nan) | ((QUIET | (size & 0x7fffff)) & nan) | sign);
}

/* Pattern of a value, rounded to nearest even, cut to finite numbers. */
BITS_INLINE uint16_t half_pattern(double value)
{
    uint64_t wide = bits_of(value), nan = FLAG(value != value);
    double size = number_of(wide & ~SIGN);
    size = choose(FLAG(size > 65504.0), 65504.0, size);
    uint64_t bits = bits_of(size);
    uint64_t normal = ((bits + (bits >> 42 & 1) + (((uint64_t)1 << 41) - 1)) >> 42) -
                      ((uint64_t)(1023 - 15) << 10);
    /* 2^28 has 24 bits behind the point */
    uint64_t small = bits_of(size + 0x1p28) - bits_of(0x1p28);
    uint64_t least = FLAG(size < 0x1p-14);
    uint64_t pattern = (small & least) | (normal & ~least);
    pattern = ((0x7c00 | (wide & 0x3ff)) & nan) | (pattern & ~nan);
    return (uint16_t)(pattern | wide >> 63 << 15);
}

/* Least normal and largest number, bits of a double's mantissa that a format lacks. */
struct format {
    double least, largest;
    int drop;
};
static const struct format FP17 = {0x1p-30, 0x1.ffcp32, 42};
static const struct format FP32 = {0x1p-126, 0x1.fffffep127, 29};

BITS_INLINE double to_format(double value, const struct format f)
{
    uint64_t bits = bits_of(value);
    bits = (bits + (bits >> f.drop & 1) + (((uint64_t)1 << (f.drop - 1)) - 1)) >> f.drop << f.drop;
    double cut = number_of(bits), size = number_of(bits & ~SIGN);
    size = choose(FLAG(size > f.largest), f.largest, size);
    size = choose(FLAG(size < f.least), 0.0, size);
    return signed_as(size, cut);
}

BITS_INLINE double first_nan(double result, double first, double second)
{
    result = choose(FLAG(second != second), second, result);
    return choose(FLAG(first != first), first, result);
}

BITS_INLINE double half_add(double first, double second, const struct format f)
{
    double total = first + second;
    total = choose(FLAG(total == 0), signed_as(0.0, first), total);
    return first_nan(to_format(total, f), first, second);
}

BITS_INLINE double half_multiply(double first, double second, const struct format f)
{
    return first_nan(to_format(first * second, f), first, second);
}

/* The larger one; -0 is less than 0. */
BITS_INLINE double half_larger(double first, double second)
{
    uint64_t greater = FLAG(first > second) |
                       (FLAG(first == second) & FLAG((bits_of(first) & SIGN) == 0));
    return first_nan(choose(greater, first, second), first, second);
}

BITS_INLINE double half_smaller(double first, double second)
{
    uint64_t greater = FLAG(first > second) |
                       (FLAG(first == second) & FLAG((bits_of(first) & SIGN) == 0));
    return first_nan(choose(greater, second, first), first, second);
}

#endif
