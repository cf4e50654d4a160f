/* SPDX-License-Identifier: Apache-2.0
 *
 * texture_layout.h - what the number of a texture object points to: kernels on the CPU read it
 * themselves.
 */
#ifndef __CUDA_CRT_TEXTURE_LAYOUT_H__
#define __CUDA_CRT_TEXTURE_LAYOUT_H__

#include <stddef.h>

struct cudlaSimTexels {
    unsigned char *data;
    size_t pitch;      /* bytes from row to row */
    int width, height; /* texels */
    int bits, channels,
        kind;       /* of an element: bits of a channel, channels, cudaChannelFormatKind */
    int address[2]; /* cudaTextureAddressMode */
    int filter, normalized_float, normalized;
    float border[4];
};

#endif /* __CUDA_CRT_TEXTURE_LAYOUT_H__ */
