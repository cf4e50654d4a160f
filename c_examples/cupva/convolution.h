/* A 3x3 convolution over a tensor whose size is a multiple of the tile's in no dimension. */
#ifndef CONVOLUTION_H
#define CONVOLUTION_H

#include <stdint.h>

#define WIDTH 75
#define HEIGHT 53
#define CHANNELS 14
#define FILTERS 4

#define TILE_WIDTH 24
#define TILE_HEIGHT 16
#define TILE_CHANNELS 4
#define HALO 1

typedef struct {
    int8_t values[FILTERS][CHANNELS][3][3];
} Weights;

#endif
