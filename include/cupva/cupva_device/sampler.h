/* Types of the decoupled sampler. Its functions do not exist here: a kernel that calls them does not
 * compile. */
#ifndef CUPVA_SAMPLER_H
#define CUPVA_SAMPLER_H

#include "device_core.h"

typedef struct {
    void *data;
    uint16_t pitch;
    TranspositionMode transMode;
} CupvaSamplerOutput;

typedef struct {
    const void *data;
    uint32_t type;
    uint16_t width, height, count;
    uint16_t fractionalBits;
    int32_t offsetX, offsetY;
    uint32_t tileTraversalMode;
} CupvaSamplerTiles;

#endif
