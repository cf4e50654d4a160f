/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/textures.hpp - tex2D of texture objects over 2D arrays and pitched memory.
 *
 * Coordinates, filters and edges are those of the CUDA Programming Guide, "Texture Fetching": a
 * linear filter takes fractions of 8 bits.
 */
#ifndef CUDLA_SIM_KERNELS_TEXTURES_H
#define CUDLA_SIM_KERNELS_TEXTURES_H

#include <cmath>
#include <type_traits>

#include "../crt/texture_layout.h"
#include "../cuda_fp16.h"
#include "../texture_types.h"
#include "engine.hpp"

namespace cudla_sim {

/* Channels of a result: a scalar or a vector with members x, y, z and w. */
template <class T, class = void> struct Channels {
    typedef T Base;
    static constexpr int count = 1;
    static T &at(T &value, int) { return value; }
};
template <class T> struct Channels<T, std::void_t<decltype(std::declval<T &>().x)>> {
    typedef std::decay_t<decltype(std::declval<T &>().x)> Base;
    static constexpr int count = static_cast<int>(sizeof(T) / sizeof(Base));
    static Base &at(T &value, int channel) { return reinterpret_cast<Base *>(&value)[channel]; }
};

struct Texel {
    int x, y;
    bool inside; /* false: the border */
};

inline const unsigned char *element(const cudlaSimTexels &of, const Texel &at) {
    return of.data + static_cast<size_t>(at.y) * of.pitch +
           static_cast<size_t>(at.x) * static_cast<size_t>(of.bits * of.channels / 8);
}

template <class T> inline T loaded(const unsigned char *from) {
    T value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* A channel as a number; missing ones are 0, the last 1. */
inline float channel(const cudlaSimTexels &of, const Texel &at, int which) {
    if (!at.inside)
        return of.border[which];
    if (which >= of.channels)
        return which == 3 ? 1.0f : 0.0f;
    const unsigned char *from = element(of, at) + which * of.bits / 8;
    if (of.kind == cudaChannelFormatKindFloat)
        return of.bits == 32 ? loaded<float>(from) : __half2float(loaded<__half>(from));
    const bool is_signed = of.kind == cudaChannelFormatKindSigned;
    long long value;
    if (of.bits == 8)
        value = is_signed ? static_cast<long long>(loaded<signed char>(from)) : *from;
    else if (of.bits == 16)
        value =
            is_signed ? static_cast<long long>(loaded<short>(from)) : loaded<unsigned short>(from);
    else
        value = is_signed ? static_cast<long long>(loaded<int>(from)) : loaded<unsigned>(from);
    if (!of.normalized_float)
        return static_cast<float>(value);
    float scaled = static_cast<float>(value) /
                   static_cast<float>((1ll << (of.bits - (is_signed ? 1 : 0))) - 1);
    return scaled < -1.0f ? -1.0f : scaled;
}

/* An element as it is in memory; results of another size are converted. */
template <class T> inline T exact(const cudlaSimTexels &of, const Texel &at) {
    typedef typename Channels<T>::Base Base;
    T result{};
    for (int c = 0; c < Channels<T>::count; c++) {
        Base &to = Channels<T>::at(result, c);
        if (at.inside && c < of.channels && !of.normalized_float &&
            sizeof(Base) * 8 == static_cast<size_t>(of.bits))
            memcpy(&to, element(of, at) + c * of.bits / 8, sizeof(Base));
        else
            to = static_cast<Base>(channel(of, at, c));
    }
    return result;
}

/* A coordinate inside, by the mode of its dimension; false: the border. */
inline bool fold(const cudlaSimTexels &of, int dimension, long long at, int size, int &to) {
    int mode = of.address[dimension];
    if (!of.normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
        mode = cudaAddressModeClamp;
    if (at < 0 || at >= size) {
        if (mode == cudaAddressModeBorder)
            return false;
        if (mode == cudaAddressModeClamp) {
            at = at < 0 ? 0 : size - 1;
        } else {
            const long long period = mode == cudaAddressModeMirror ? 2ll * size : size;
            at = (at % period + period) % period;
            at = at >= size ? period - 1 - at : at;
        }
    }
    to = static_cast<int>(at);
    return true;
}

/* Rounded down; what is beyond any texture stays beyond it. */
inline int rounded_down(float value) {
    if (!(value > -1e9f))
        return -1000000000;
    return value < 1e9f ? static_cast<int>(std::floor(value)) : 1000000000;
}

/* The two texels of a linear filter along one dimension, with their weights. */
struct Span {
    int at[2] = {0, 0};
    bool inside[2] = {true, true};
    float weight[2] = {1, 0};

    Span(const cudlaSimTexels &of, int dimension, float coordinate, int size) {
        const float shifted = coordinate - 0.5f;
        const int low = rounded_down(shifted);
        const float part =
            static_cast<float>(rounded_down((shifted - static_cast<float>(low)) * 256.0f + 0.5f)) /
            256.0f;
        for (int up = 0; up < 2; up++)
            inside[up] = fold(of, dimension, static_cast<long long>(low) + up, size, at[up]);
        weight[0] = 1.0f - part;
        weight[1] = part;
    }
};

template <class T> inline T fetch(const cudlaSimTexels &of, float x, float y) {
    if (of.normalized) {
        x *= static_cast<float>(of.width);
        y *= static_cast<float>(of.height);
    }
    if (of.filter == cudaFilterModePoint) {
        Texel texel{0, 0, true};
        texel.inside = fold(of, 0, rounded_down(x), of.width, texel.x);
        texel.inside &= fold(of, 1, rounded_down(y), of.height, texel.y);
        return exact<T>(of, texel);
    }
    const Span row(of, 0, x, of.width), column(of, 1, y, of.height);
    float sum[4] = {0, 0, 0, 0};
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            const float weight = row.weight[i] * column.weight[j];
            if (weight == 0)
                continue;
            const Texel texel{row.at[i], column.at[j], row.inside[i] && column.inside[j]};
            for (int c = 0; c < Channels<T>::count; c++)
                sum[c] += weight * channel(of, texel, c);
        }
    T result{};
    for (int c = 0; c < Channels<T>::count; c++)
        Channels<T>::at(result, c) = static_cast<typename Channels<T>::Base>(sum[c]);
    return result;
}

} // namespace cudla_sim

template <class T> inline T tex2D(cudaTextureObject_t object, float x, float y) {
    if (!object)
        cudla_sim::fail_launch(cudaErrorIllegalAddress, "a texture object that is 0");
    return cudla_sim::fetch<T>(*reinterpret_cast<const cudlaSimTexels *>(object), x, y);
}
/* The older form with a pointer for the result. */
template <class T> inline void tex2D(T *to, cudaTextureObject_t object, float x, float y) {
    *to = tex2D<T>(object, x, y);
}

#endif
