/* A double as decimal text, exactly rounded (to nearest, ties to even) as IEEE 754 asks. */
#ifndef DPU_RUN_DECIMAL_H
#define DPU_RUN_DECIMAL_H

#include <stdbool.h>

#define DECIMAL_TEXT 1600

bool rt_decimal_negative(double value);
bool rt_decimal_finite(double value);

/*
 * Writes |value| in the form of `conversion` (e f g and capitals) and gives the length. At most 1100
 * digits follow the point: no double has more.
 */
int rt_decimal_format(char *text, double value, char conversion, int precision, bool alternative,
    bool upper);

#endif
