// What somebody writes who knows nothing of vectors; compiled with -O3 -march=native.
#include "cupva_kernels.h"

void plain_filter(const uint16_t *in, const int16_t *coefficients, uint16_t *out)
{
    for (int y = 0; y < TILE_H; y++)
        for (int x = 0; x < TILE_W; x++) {
            int32_t sum = 0;
            for (int ky = 0; ky < 5; ky++)
                for (int kx = 0; kx < 5; kx++)
                    sum += in[(y + ky) * PITCH + x + kx] * coefficients[ky * 5 + kx];
            out[y * TILE_W + x] = (uint16_t)(sum >> 4);
        }
}

void plain_box(const uint16_t *in, uint16_t *out)
{
    for (int y = 0; y < TILE_H; y++)
        for (int x = 0; x < TILE_W; x++) {
            int32_t sum = 0;
            for (int ky = 0; ky < 5; ky++)
                for (int kx = 0; kx < 5; kx++)
                    sum += in[(y + ky) * PITCH + x + kx];
            out[y * TILE_W + x] = (uint16_t)(sum >> 5);
        }
}

// The shape of the public denoising kernels: neighbours that differ little are counted, and a pixel
// with few of them becomes the largest of those.
void plain_neighbours(const uint16_t *in, int32_t limit, uint16_t *out)
{
    for (int y = 0; y < TILE_H; y++)
        for (int x = 0; x < TILE_W; x++) {
            int32_t centre = in[(y + HALO) * PITCH + x + HALO], near = 0, largest = 0;
            for (int ky = 1; ky < 4; ky++)
                for (int kx = 1; kx < 4; kx++) {
                    int32_t other = in[(y + ky) * PITCH + x + kx];
                    int32_t difference = other > centre ? other - centre : centre - other;
                    near += difference < limit;
                    largest = other > largest ? other : largest;
                }
            out[y * TILE_W + x] = (uint16_t)(near < 4 ? largest : centre);
        }
}

void plain_difference(const uint8_t *a, const uint8_t *b, uint8_t *out)
{
    for (int i = 0; i < TILE_W * TILE_H; i++)
        out[i] = (uint8_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
}
