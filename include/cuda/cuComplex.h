/* SPDX-License-Identifier: Apache-2.0
 *
 * cuComplex.h - complex numbers as short vectors, for code of host and device, in C and C++.
 */
#ifndef __CU_COMPLEX_H__
#define __CU_COMPLEX_H__

#include <math.h>

#include "vector_functions.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#if !defined(CUDLA_SIM_PARSE)

#define CUDLA_SIM_COMPLEX static inline __attribute__((unused))

CUDLA_SIM_COMPLEX float cuCrealf(cuFloatComplex x) { return x.x; }
CUDLA_SIM_COMPLEX float cuCimagf(cuFloatComplex x) { return x.y; }
CUDLA_SIM_COMPLEX cuFloatComplex make_cuFloatComplex(float r, float i) { return make_float2(r, i); }
CUDLA_SIM_COMPLEX cuFloatComplex cuConjf(cuFloatComplex x) { return make_float2(x.x, -x.y); }
CUDLA_SIM_COMPLEX cuFloatComplex cuCaddf(cuFloatComplex x, cuFloatComplex y) { return make_float2(x.x + y.x, x.y + y.y); }
CUDLA_SIM_COMPLEX cuFloatComplex cuCsubf(cuFloatComplex x, cuFloatComplex y) { return make_float2(x.x - y.x, x.y - y.y); }
CUDLA_SIM_COMPLEX cuFloatComplex cuCmulf(cuFloatComplex x, cuFloatComplex y)
{
    return make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
/* Smith's way: no square of a component is made, which may overflow. */
CUDLA_SIM_COMPLEX cuFloatComplex cuCdivf(cuFloatComplex x, cuFloatComplex y)
{
    if (fabsf(y.x) >= fabsf(y.y)) {
        float ratio = y.y / y.x, whole = y.x + y.y * ratio;
        return make_float2((x.x + x.y * ratio) / whole, (x.y - x.x * ratio) / whole);
    } else {
        float ratio = y.x / y.y, whole = y.x * ratio + y.y;
        return make_float2((x.x * ratio + x.y) / whole, (x.y * ratio - x.x) / whole);
    }
}
CUDLA_SIM_COMPLEX float cuCabsf(cuFloatComplex x) { return hypotf(x.x, x.y); }
CUDLA_SIM_COMPLEX cuFloatComplex cuCfmaf(cuFloatComplex x, cuFloatComplex y, cuFloatComplex d) { return cuCaddf(cuCmulf(x, y), d); }

CUDLA_SIM_COMPLEX double cuCreal(cuDoubleComplex x) { return x.x; }
CUDLA_SIM_COMPLEX double cuCimag(cuDoubleComplex x) { return x.y; }
CUDLA_SIM_COMPLEX cuDoubleComplex make_cuDoubleComplex(double r, double i) { return make_double2(r, i); }
CUDLA_SIM_COMPLEX cuDoubleComplex cuConj(cuDoubleComplex x) { return make_double2(x.x, -x.y); }
CUDLA_SIM_COMPLEX cuDoubleComplex cuCadd(cuDoubleComplex x, cuDoubleComplex y) { return make_double2(x.x + y.x, x.y + y.y); }
CUDLA_SIM_COMPLEX cuDoubleComplex cuCsub(cuDoubleComplex x, cuDoubleComplex y) { return make_double2(x.x - y.x, x.y - y.y); }
CUDLA_SIM_COMPLEX cuDoubleComplex cuCmul(cuDoubleComplex x, cuDoubleComplex y)
{
    return make_double2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
/* Smith's way: no square of a component is made, which may overflow. */
CUDLA_SIM_COMPLEX cuDoubleComplex cuCdiv(cuDoubleComplex x, cuDoubleComplex y)
{
    if (fabs(y.x) >= fabs(y.y)) {
        double ratio = y.y / y.x, whole = y.x + y.y * ratio;
        return make_double2((x.x + x.y * ratio) / whole, (x.y - x.x * ratio) / whole);
    } else {
        double ratio = y.x / y.y, whole = y.x * ratio + y.y;
        return make_double2((x.x * ratio + x.y) / whole, (x.y * ratio - x.x) / whole);
    }
}
CUDLA_SIM_COMPLEX double cuCabs(cuDoubleComplex x) { return hypot(x.x, x.y); }
CUDLA_SIM_COMPLEX cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex d) { return cuCadd(cuCmul(x, y), d); }

CUDLA_SIM_COMPLEX cuComplex make_cuComplex(float r, float i) { return make_float2(r, i); }
CUDLA_SIM_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) { return make_double2(c.x, c.y); }
CUDLA_SIM_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c)
{
    return make_float2((float)c.x, (float)c.y);
}

#endif

#endif /* __CU_COMPLEX_H__ */
