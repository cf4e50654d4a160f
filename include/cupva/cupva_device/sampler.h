/* Types of the decoupled sampler, and its functions as far as their names are known; what they do is
 * not: a kernel that calls one stops with an explanation. */
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

template <typename... Arguments> static inline void cupvaSamplerSetup(Arguments &&...)
{
    pva_rt_misuse("the decoupled sampler does not exist here");
}
template <typename... Arguments> static inline void cupvaSamplerInit(Arguments &&...)
{
    pva_rt_misuse("the decoupled sampler does not exist here");
}

#endif
