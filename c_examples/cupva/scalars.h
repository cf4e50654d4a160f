/* What the host tells the VPU program. */
#ifndef SCALARS_H
#define SCALARS_H

#include <stdint.h>

typedef struct {
    int32_t factors[4];
    int32_t expected;
} Order;

#endif
