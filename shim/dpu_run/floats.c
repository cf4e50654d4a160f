/*
 * The NaNs of floating-point operations, bit by bit as the SDK's subroutines (compiler-rt) give them:
 * the first operand that is a NaN, made quiet, otherwise a positive quiet one. What is subtracted has
 * had its sign turned over. Called by what toolchain/arithmetic.py puts in place of the operations,
 * when their result is a NaN.
 */
#include "rt.h"

#define NANS(type, bits, short, quiet, inf, sign) \
    static bits short##_bits(type x) \
    { \
        bits b; \
        rt_copy(&b, &x, sizeof b); \
        return b; \
    } \
    static type short##_nan(bits a, bits b) \
    { \
        bits r = inf | quiet; \
        if ((a & ~sign) > inf) \
            r = a | quiet; \
        else if ((b & ~sign) > inf) \
            r = b | quiet; \
        type x; \
        rt_copy(&x, &r, sizeof x); \
        return x; \
    } \
    API type __rt_nan_fadd_##short(type a, type b) \
    { \
        return short##_nan(short##_bits(a), short##_bits(b)); \
    } \
    API type __rt_nan_fsub_##short(type a, type b) \
    { \
        return short##_nan(short##_bits(a), short##_bits(b) ^ sign); \
    } \
    API type __rt_nan_fmul_##short(type a, type b) \
    { \
        return short##_nan(short##_bits(a), short##_bits(b)); \
    } \
    API type __rt_nan_fdiv_##short(type a, type b) \
    { \
        return short##_nan(short##_bits(a), short##_bits(b)); \
    }

NANS(float, uint32_t, f32, 0x00400000u, 0x7f800000u, 0x80000000u)
NANS(double, uint64_t, f64, 0x0008000000000000ull, 0x7ff0000000000000ull, 0x8000000000000000ull)
