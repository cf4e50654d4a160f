/* SPDX-License-Identifier: Apache-2.0
 *
 * channel_descriptor.h - the format of an array's elements, from a C++ type.
 */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include "cuda_runtime_api.h"
#include "vector_types.h"

#if defined(__cplusplus) && !defined(CUDLA_SIM_PARSE)

inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}

template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

/* One to four channels of a base type. */
#define CUDLA_SIM_CHANNELS(type, base, kind)                                                       \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {                       \
        const int bits = static_cast<int>(sizeof(base) * 8);                                       \
        const int n = static_cast<int>(sizeof(type) / sizeof(base));                               \
        return cudaCreateChannelDesc(bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,   \
                                     kind);                                                        \
    }
#define CUDLA_SIM_VECTORS(name, base, kind)                                                        \
    CUDLA_SIM_CHANNELS(name##1, base, kind)                                                        \
    CUDLA_SIM_CHANNELS(name##2, base, kind)                                                        \
    CUDLA_SIM_CHANNELS(name##4, base, kind)

CUDLA_SIM_CHANNELS(char, char, cudaChannelFormatKindSigned)
CUDLA_SIM_CHANNELS(signed char, signed char, cudaChannelFormatKindSigned)
CUDLA_SIM_CHANNELS(unsigned char, unsigned char, cudaChannelFormatKindUnsigned)
CUDLA_SIM_CHANNELS(short, short, cudaChannelFormatKindSigned)
CUDLA_SIM_CHANNELS(unsigned short, unsigned short, cudaChannelFormatKindUnsigned)
CUDLA_SIM_CHANNELS(int, int, cudaChannelFormatKindSigned)
CUDLA_SIM_CHANNELS(unsigned int, unsigned int, cudaChannelFormatKindUnsigned)
CUDLA_SIM_CHANNELS(float, float, cudaChannelFormatKindFloat)
CUDLA_SIM_VECTORS(char, signed char, cudaChannelFormatKindSigned)
CUDLA_SIM_VECTORS(uchar, unsigned char, cudaChannelFormatKindUnsigned)
CUDLA_SIM_VECTORS(short, short, cudaChannelFormatKindSigned)
CUDLA_SIM_VECTORS(ushort, unsigned short, cudaChannelFormatKindUnsigned)
CUDLA_SIM_VECTORS(int, int, cudaChannelFormatKindSigned)
CUDLA_SIM_VECTORS(uint, unsigned int, cudaChannelFormatKindUnsigned)
CUDLA_SIM_VECTORS(float, float, cudaChannelFormatKindFloat)

#undef CUDLA_SIM_VECTORS
#undef CUDLA_SIM_CHANNELS

#endif /* __cplusplus */

#endif /* __CHANNEL_DESCRIPTOR_H__ */
