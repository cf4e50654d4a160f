/* A 5x5 unsharp mask: twice the picture less its binomial blur. */
#ifndef UNSHARP_H
#define UNSHARP_H

#include <stdint.h>

#define TILE_WIDTH 64
#define TILE_HEIGHT 32
#define RADIUS 2

static const int BINOMIAL[5] = {1, 4, 6, 4, 1};

/* `centre` has RADIUS pixels around it. */
static inline uint8_t sharpened(uint8_t const *centre, int pitch)
{
    int blurred = 0;
    for (int y = -RADIUS; y <= RADIUS; y++)
        for (int x = -RADIUS; x <= RADIUS; x++)
            blurred += BINOMIAL[y + RADIUS] * BINOMIAL[x + RADIUS] * centre[y * pitch + x];
    int const value = (512 * centre[0] - blurred + 128) >> 8;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

#endif
