/* SPDX-License-Identifier: Apache-2.0
 *
 * texture_layout.h - what the number of a texture or surface object points to: kernels on the CPU read it
 * themselves. Nobody else does.
 */
#ifndef __CUDA_CRT_TEXTURE_LAYOUT_H__
#define __CUDA_CRT_TEXTURE_LAYOUT_H__

#include <stddef.h>

struct cudlaSimTexels {
    unsigned char *data;
    size_t pitch; /* bytes from row to row */
    size_t slice; /* bytes from plane, layer or face to the next */
    int width, height, depth; /* texels; depth counts layers and faces, too */
    int dimensions;           /* 1 to 3 that coordinates have, without a layer */
    int linear;               /* memory without an array: tex1Dfetch */
    int bits, channels, kind; /* of an element: of a channel, how many, cudaChannelFormatKind */
    int address[3];           /* cudaTextureAddressMode */
    int filter, normalized_float, normalized;
    float border[4];
    const struct cudlaSimTexels *level; /* each of a mipmap */
    int levels, level_filter;
    float level_bias, least_level, most_level;
};

#endif /* __CUDA_CRT_TEXTURE_LAYOUT_H__ */
