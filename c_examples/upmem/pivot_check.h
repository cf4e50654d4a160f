/* The check that the three hosts share: C and C++. */
#ifndef PIVOT_CHECK_H
#define PIVOT_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pivot.h"

static int pivot_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* 0 when `after` is `before` partitioned, with `left` elements before the border. */
static int pivot_check(const char *who, const int32_t *before, const int32_t *after, size_t count,
                       size_t left)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += (after[i] < PIVOT) != (i < left);

    int32_t *sorted = (int32_t *)malloc(2 * count * sizeof *sorted);
    memcpy(sorted, before, count * sizeof *sorted);
    memcpy(sorted + count, after, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, pivot_compare);
    qsort(sorted + count, count, sizeof *sorted, pivot_compare);
    const int same = memcmp(sorted, sorted + count, count * sizeof *sorted) == 0;
    free(sorted);

    printf("%s: %zu of %zu elements are smaller than %d: %s\n", who, left, count, PIVOT,
           wrong == 0 && same ? "partitioned" : "WRONG");
    return wrong == 0 && same ? 0 : 1;
}

#endif
