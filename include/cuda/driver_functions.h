/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_functions.h - makes extents, positions and pitched pointers from their components.
 */
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "driver_types.h"

#if !defined(CUDLA_SIM_PARSE)

#define CUDLA_SIM_INLINE static inline __attribute__((unused))

CUDLA_SIM_INLINE struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    struct cudaExtent extent;
    extent.width = width;
    extent.height = height;
    extent.depth = depth;
    return extent;
}

CUDLA_SIM_INLINE struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    struct cudaPos position;
    position.x = x;
    position.y = y;
    position.z = z;
    return position;
}

CUDLA_SIM_INLINE struct cudaPitchedPtr make_cudaPitchedPtr(void *ptr, size_t pitch, size_t xsize,
                                                           size_t ysize) {
    struct cudaPitchedPtr pitched;
    pitched.ptr = ptr;
    pitched.pitch = pitch;
    pitched.xsize = xsize;
    pitched.ysize = ysize;
    return pitched;
}

#undef CUDLA_SIM_INLINE

#endif /* !CUDLA_SIM_PARSE */

#endif /* __DRIVER_FUNCTIONS_H__ */
