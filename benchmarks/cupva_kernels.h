/* The frames of benchmarks/cupva_kernels_dev.c, and the plain loops that do the same. */
#ifndef CUPVA_KERNELS_H
#define CUPVA_KERNELS_H

#include <stdint.h>

enum { TILE_W = 128, TILE_H = 64, HALO = 2, PITCH = TILE_W + 2 * HALO, ROWS = TILE_H + 2 * HALO };
/* Tiles of a frame of 1920 x 1080. */
enum { TILES = 15 * 17 };

#ifdef __cplusplus
extern "C" {
#endif
void plain_filter(const uint16_t *in, const int16_t *coefficients, uint16_t *out);
void plain_box(const uint16_t *in, uint16_t *out);
void plain_neighbours(const uint16_t *in, int32_t limit, uint16_t *out);
void plain_difference(const uint8_t *a, const uint8_t *b, uint8_t *out);
#ifdef __cplusplus
}
#endif

#endif
