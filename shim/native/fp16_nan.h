/* The NaNs of fp16 convolution: what the first one of a step leaves in an accumulator. */
#ifndef CUDLA_SIM_FP16_NAN_H
#define CUDLA_SIM_FP16_NAN_H

#include <stddef.h>
#include <stdint.h>

static inline int is_nan(uint16_t half)
{
    return (half & 0x7fff) > 0x7c00;
}

/* The first NaN among the weights of a kernel, else among the inputs, else 0. */
static inline uint16_t find_nan(const uint16_t *frame, const int64_t *offsets,
                                const uint16_t *raw, size_t stride, int count)
{
    for (int i = 0; i < count; i++)
        if (is_nan(raw[(size_t)i * stride]))
            return raw[(size_t)i * stride];
    for (int i = 0; i < count; i++)
        if (is_nan(frame[offsets[i]]))
            return frame[offsets[i]];
    return 0;
}

static inline void put_nan(int64_t *mantissa, int32_t *exponent, uint16_t nan)
{
    int64_t pattern = (int64_t)(nan & 0x3ff) - (nan & 0x8000 ? 0x400 : 0);
    if (*exponent == 255)
        *mantissa = *mantissa >> 29 << 29;
    else
        *mantissa = (int64_t)((uint64_t)pattern << 29);
    *exponent = 255;
}

#endif
