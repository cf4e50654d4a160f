/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/textures.hpp - fetches from textures, and reads and writes of surfaces.
 *
 * Coordinates, filters and edges are those of the CUDA Programming Guide, "Texture Fetching": a linear filter
 * takes fractions of 8 bits.
 */
#ifndef CUDLA_SIM_KERNELS_TEXTURES_H
#define CUDLA_SIM_KERNELS_TEXTURES_H

#include <cmath>
#include <cstring>
#include <type_traits>

#include "../crt/texture_layout.h"
#include "../cuda_fp16.h"
#include "../surface_types.h"
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

inline const cudlaSimTexels &texels(unsigned long long object) {
    if (!object)
        fail_launch(cudaErrorIllegalAddress, "a texture or surface object that is 0");
    return *reinterpret_cast<const cudlaSimTexels *>(object);
}

/* --- one element ------------------------------------------------------------------------------ */

struct Place {
    int x, y, z;
    bool inside;
};

inline const unsigned char *element(const cudlaSimTexels &of, const Place &at) {
    return of.data + static_cast<size_t>(at.z) * of.slice + static_cast<size_t>(at.y) * of.pitch +
           static_cast<size_t>(at.x) * static_cast<size_t>(of.bits * of.channels / 8);
}

/* A channel as a number; missing ones are 0, the last 1. */
inline float channel(const cudlaSimTexels &of, const Place &at, int which) {
    if (!at.inside)
        return of.border[which];
    if (which >= of.channels)
        return which == 3 ? 1.0f : 0.0f;
    const unsigned char *from = element(of, at) + which * of.bits / 8;
    if (of.kind == cudaChannelFormatKindFloat && of.bits == 32) {
        float value;
        memcpy(&value, from, 4);
        return value;
    }
    if (of.kind == cudaChannelFormatKindFloat) {
        __half half;
        memcpy(&half, from, 2);
        return __half2float(half);
    }
    bool is_signed = of.kind == cudaChannelFormatKindSigned;
    long long value;
    if (of.bits == 8) {
        value = is_signed ? static_cast<long long>(static_cast<signed char>(*from)) : *from;
    } else if (of.bits == 16) {
        unsigned short bits;
        memcpy(&bits, from, 2);
        value = is_signed ? static_cast<long long>(static_cast<short>(bits)) : bits;
    } else {
        unsigned bits;
        memcpy(&bits, from, 4);
        value = is_signed ? static_cast<long long>(static_cast<int>(bits)) : bits;
    }
    if (!of.normalized_float)
        return static_cast<float>(value);
    float most = static_cast<float>((1ll << (of.bits - (is_signed ? 1 : 0))) - 1);
    float scaled = static_cast<float>(value) / most;
    return scaled < -1.0f ? -1.0f : scaled;
}

/* All of it as it lies in memory; results of another size are converted. */
template <class T> inline T exact(const cudlaSimTexels &of, const Place &at) {
    typedef typename Channels<T>::Base Base;
    T result{};
    for (int c = 0; c < Channels<T>::count; c++) {
        Base &to = Channels<T>::at(result, c);
        bool as_is = at.inside && c < of.channels && !of.normalized_float && sizeof(Base) * 8 == static_cast<size_t>(of.bits);
        if (as_is)
            memcpy(&to, element(of, at) + c * of.bits / 8, sizeof(Base));
        else
            to = static_cast<Base>(channel(of, at, c));
    }
    return result;
}

/* --- coordinates ------------------------------------------------------------------------------ */

/* A whole coordinate inside, by the mode of its dimension; false: the border. */
inline bool fold(const cudlaSimTexels &of, int dimension, long long at, int size, int &to) {
    int mode = of.address[dimension];
    if (!of.normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
        mode = cudaAddressModeClamp;
    if (at >= 0 && at < size) {
        to = static_cast<int>(at);
        return true;
    }
    if (mode == cudaAddressModeBorder)
        return false;
    if (mode == cudaAddressModeWrap) {
        at %= size;
        at += at < 0 ? size : 0;
    } else if (mode == cudaAddressModeMirror) {
        at %= 2ll * size;
        at += at < 0 ? 2ll * size : 0;
        at = at >= size ? 2ll * size - 1 - at : at;
    } else if (mode == cudaAddressModeClamp) {
        at = at < 0 ? 0 : at >= size ? size - 1 : at;
    }
    to = static_cast<int>(at);
    return true;
}

/* Rounded down; what is beyond any texture stays beyond it. */
inline int whole(float value) {
    if (!(value > -1e9f))
        return -1000000000;
    if (!(value < 1e9f))
        return 1000000000;
    int cut = static_cast<int>(value);
    return cut - (static_cast<float>(cut) > value); /* std::floor is a call where SSE 4.1 is not asked for */
}

inline int clamped(int at, int size) { return at < 0 ? 0 : at >= size ? size - 1 : at; }

/* The commonest fetch: an element as it is, by coordinates in texels, clamped at the edges. */
template <class T> inline bool is_plain(const cudlaSimTexels &of, int dimensions) {
    return of.filter == cudaFilterModePoint && !(of.normalized | of.normalized_float) &&
           of.bits == static_cast<int>(8 * sizeof(typename Channels<T>::Base)) && of.channels == Channels<T>::count &&
           of.address[0] == cudaAddressModeClamp && (dimensions < 2 || of.address[1] == cudaAddressModeClamp);
}

/* What a linear filter takes along one dimension: one texel where a coordinate is the middle of it. */
struct Span {
    int count = 1;
    int at[2] = {0, 0};
    bool inside[2] = {true, true};
    float weight[2] = {1, 0};
};

/* The texel from which a coordinate is a part of the way to the next one. */
inline float part_from(float at, int &low) {
    float shifted = at - 0.5f;
    if (shifted >= 0.0f && shifted < 16384.0f) { /* where singles hold halves of a 256th */
        int steps = static_cast<int>(shifted * 256.0f + 0.5f);
        low = steps >> 8;
        return static_cast<float>(steps & 255) * (1.0f / 256.0f);
    }
    low = whole(shifted);
    return static_cast<float>(whole((shifted - static_cast<float>(low)) * 256.0f + 0.5f)) / 256.0f;
}

/* In place: a copy of it would wait for the stores of its parts. */
inline void take(Span &made, const cudlaSimTexels &of, int dimension, float at, int size) {
    int low;
    float part = part_from(at, low);
    int count = 0;
    for (int up = 0; up < 2; up++) {
        float weight = up ? part : 1.0f - part;
        if (weight == 0)
            continue;
        made.inside[count] = fold(of, dimension, static_cast<long long>(low) + up, size, made.at[count]);
        made.weight[count++] = weight;
    }
    made.count = count;
}

/* A linear filter over singles by coordinates in texels, clamped at the edges: D is 1 or 2. */
template <class T, int D> inline bool is_smooth(const cudlaSimTexels &of) {
    return D < 3 && std::is_same<typename Channels<T>::Base, float>::value && of.kind == cudaChannelFormatKindFloat &&
           of.bits == 32 && of.channels == Channels<T>::count && of.filter == cudaFilterModeLinear &&
           !(of.normalized | of.normalized_float) && of.address[0] != cudaAddressModeBorder &&
           (D < 2 || of.address[1] != cudaAddressModeBorder);
}

template <class T, int D> inline T smooth(const cudlaSimTexels &of, float x, float y, int layer) {
    constexpr int count = Channels<T>::count;
    int low_x, low_y = 0;
    float part_x = part_from(x, low_x), part_y = D > 1 ? part_from(y, low_y) : 0.0f;
    const unsigned char *plane = of.data + static_cast<size_t>(clamped(layer, of.depth)) * of.slice;
    float sum[4] = {0, 0, 0, 0};
    auto add = [&](const unsigned char *line, int at, float weight) {
        float from[count];
        memcpy(from, line + static_cast<size_t>(clamped(at, of.width)) * sizeof from, sizeof from);
        for (int c = 0; c < count; c++)
            sum[c] += weight * from[c];
    };
    auto add_line = [&](int at, float weight) {
        const unsigned char *line = D > 1 ? plane + static_cast<size_t>(clamped(at, of.height)) * of.pitch : plane;
        if (part_x != 1.0f)
            add(line, low_x, (1.0f - part_x) * weight);
        if (part_x != 0.0f)
            add(line, low_x + 1, part_x * weight);
    };
    if (part_y != 1.0f)
        add_line(low_y, 1.0f - part_y);
    if (part_y != 0.0f)
        add_line(low_y + 1, part_y);
    T result{};
    for (int c = 0; c < count; c++)
        Channels<T>::at(result, c) = static_cast<typename Channels<T>::Base>(sum[c]);
    return result;
}

/* What is fetched: D coordinates, in a layer. */
template <class T, int D> inline T fetch(const cudlaSimTexels &of, float x, float y, float z, int layer) {
    if (D < 3 && is_plain<T>(of, D)) {
        Place place{clamped(whole(x), of.width), D < 2 ? 0 : clamped(whole(y), of.height), clamped(layer, of.depth),
                    true};
        T result;
        memcpy(&result, element(of, place), sizeof(T));
        return result;
    }
    if (is_smooth<T, D>(of))
        return smooth<T, D>(of, x, y, layer);
    if (of.normalized) {
        x *= static_cast<float>(of.width);
        y *= static_cast<float>(of.height);
        z *= static_cast<float>(of.depth);
    }
    if (of.filter == cudaFilterModePoint) {
        Place place{0, 0, clamped(layer, of.depth), true};
        place.inside = fold(of, 0, whole(x), of.width, place.x);
        if (D > 1)
            place.inside &= fold(of, 1, whole(y), of.height, place.y);
        if (D > 2)
            place.inside &= fold(of, 2, whole(z), of.depth, place.z);
        return exact<T>(of, place);
    }
    Span row, column, plane;
    take(row, of, 0, x, of.width);
    if (D > 1)
        take(column, of, 1, y, of.height);
    plane.at[0] = clamped(layer, of.depth);
    if (D > 2)
        take(plane, of, 2, z, of.depth);
    constexpr int count = Channels<T>::count;
    float sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < (D > 2 ? plane.count : 1); k++)
        for (int j = 0; j < (D > 1 ? column.count : 1); j++)
            for (int i = 0; i < row.count; i++) {
                Place here{row.at[i], column.at[j], plane.at[k], row.inside[i] && column.inside[j] && plane.inside[k]};
                float weight = row.weight[i] * column.weight[j] * plane.weight[k];
                for (int c = 0; c < count; c++)
                    sum[c] += weight * channel(of, here, c);
            }
    T result{};
    for (int c = 0; c < count; c++)
        Channels<T>::at(result, c) = static_cast<typename Channels<T>::Base>(sum[c]);
    return result;
}

/* What `one` fetches of a level, or of two levels with a part of each. */
template <class T, class F> inline T at_level(const cudlaSimTexels &of, float level, F one) {
    if (of.levels < 2)
        return one(of);
    float last = static_cast<float>(of.levels - 1);
    level += of.level_bias;
    level = level < of.most_level ? level : of.most_level;
    level = level > of.least_level ? level : of.least_level;
    level = level > 0.0f ? (level < last ? level : last) : 0.0f;
    if (of.level_filter == cudaFilterModePoint)
        return one(of.level[whole(level + 0.5f)]);
    int low = whole(level);
    float part = static_cast<float>(whole((level - static_cast<float>(low)) * 256.0f + 0.5f)) / 256.0f;
    T result = one(of.level[low]);
    if (part == 0.0f)
        return result;
    T next = one(of.level[low + 1]);
    for (int c = 0; c < Channels<T>::count; c++) {
        auto &to = Channels<T>::at(result, c);
        float mixed = (1.0f - part) * static_cast<float>(to) + part * static_cast<float>(Channels<T>::at(next, c));
        to = static_cast<typename Channels<T>::Base>(mixed);
    }
    return result;
}

template <class T, int D>
inline T fetch_level(cudaTextureObject_t object, float x, float y, float z, int layer, float level) {
    return at_level<T>(texels(object), level,
                       [&](const cudlaSimTexels &of) { return fetch<T, D>(of, x, y, z, layer); });
}

/* The level where a step of one pixel is one of a texel. */
inline float level_of(float a, float b, float c, float d, float e, float f) {
    float first = a * a + b * b + c * c, second = d * d + e * e + f * f;
    return 0.5f * std::log2(first > second ? first : second);
}

/* The face of a direction, and where on it (OpenGL's table; the guide's "Cubemap Textures"). */
inline int face_of(float x, float y, float z, float &u, float &v) {
    float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z), m, s, t;
    int face;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
    }
    u = (s / m + 1) / 2;
    v = (t / m + 1) / 2;
    return face;
}

/* --- surfaces --------------------------------------------------------------------------------- */

inline bool surface_place(const cudlaSimTexels &of, Place &at, int x_bytes, size_t bytes,
                          cudaSurfaceBoundaryMode mode) {
    long long size = of.bits * of.channels / 8, x = x_bytes >= 0 ? x_bytes / size : -1;
    at.x = static_cast<int>(x);
    bool inside = x >= 0 && x < of.width && at.y >= 0 && at.y < of.height && at.z >= 0 && at.z < of.depth;
    if (inside && static_cast<long long>(bytes) <= (of.width - x) * size)
        return true;
    if (mode == cudaBoundaryModeTrap)
        fail_launch(cudaErrorIllegalAddress, "coordinates of a surface beyond its edge (cudaBoundaryModeTrap)");
    if (mode == cudaBoundaryModeZero)
        return false;
    at.x = x < 0 ? 0 : x >= of.width ? of.width - 1 : at.x;
    at.y = at.y < 0 ? 0 : at.y >= of.height ? of.height - 1 : at.y;
    at.z = at.z < 0 ? 0 : at.z >= of.depth ? of.depth - 1 : at.z;
    return true;
}

template <class T>
inline T surface_read(cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    const cudlaSimTexels &of = texels(object);
    Place at{0, y, z, true};
    T value{};
    if (surface_place(of, at, x, sizeof(T), mode))
        memcpy(&value, element(of, at), sizeof(T));
    return value;
}

template <class T>
inline void surface_write(const T &value, cudaSurfaceObject_t object, int x, int y, int z,
                          cudaSurfaceBoundaryMode mode) {
    const cudlaSimTexels &of = texels(object);
    Place at{0, y, z, true};
    if (surface_place(of, at, x, sizeof(T), mode))
        memcpy(const_cast<unsigned char *>(element(of, at)), &value, sizeof(T));
}

} // namespace cudla_sim

/* --- fetches by their names; a level of detail means nothing without mipmaps --------------------- */

template <class T> inline T tex1Dfetch(cudaTextureObject_t object, int x) {
    const cudlaSimTexels &of = cudla_sim::texels(object);
    cudla_sim::Place at{x, 0, 0, true};
    if (x < 0 || x >= of.width)
        return T{}; /* beyond linear memory a fetch gives 0 */
    return cudla_sim::exact<T>(of, at);
}
template <class T> inline T tex1D(cudaTextureObject_t object, float x) {
    return cudla_sim::fetch<T, 1>(cudla_sim::texels(object), x, 0, 0, 0);
}
template <class T> inline T tex2D(cudaTextureObject_t object, float x, float y) {
    return cudla_sim::fetch<T, 2>(cudla_sim::texels(object), x, y, 0, 0);
}
template <class T> inline T tex3D(cudaTextureObject_t object, float x, float y, float z) {
    return cudla_sim::fetch<T, 3>(cudla_sim::texels(object), x, y, z, 0);
}
template <class T> inline T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
    return cudla_sim::fetch<T, 1>(cudla_sim::texels(object), x, 0, 0, layer);
}
template <class T> inline T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
    return cudla_sim::fetch<T, 2>(cudla_sim::texels(object), x, y, 0, layer);
}
template <class T>
inline T texCubemapLayeredLod(cudaTextureObject_t object, float x, float y, float z, int layer, float level) {
    float u, v;
    int face = cudla_sim::face_of(x, y, z, u, v);
    return cudla_sim::at_level<T>(cudla_sim::texels(object), level, [&](cudlaSimTexels of) {
        of.normalized = 1; /* whatever the object says */
        of.address[0] = of.address[1] = cudaAddressModeClamp;
        return cudla_sim::fetch<T, 2>(of, u, v, 0, layer * 6 + face);
    });
}
template <class T>
inline T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer) {
    return texCubemapLayeredLod<T>(object, x, y, z, layer, 0.0f);
}
template <class T> inline T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
    return texCubemapLayered<T>(object, x, y, z, 0);
}
template <class T> inline T texCubemapLod(cudaTextureObject_t object, float x, float y, float z, float level) {
    return texCubemapLayeredLod<T>(object, x, y, z, 0, level);
}
template <class T> inline T tex1DLod(cudaTextureObject_t object, float x, float level) {
    return cudla_sim::fetch_level<T, 1>(object, x, 0, 0, 0, level);
}
template <class T> inline T tex2DLod(cudaTextureObject_t object, float x, float y, float level) {
    return cudla_sim::fetch_level<T, 2>(object, x, y, 0, 0, level);
}
template <class T> inline T tex3DLod(cudaTextureObject_t object, float x, float y, float z, float level) {
    return cudla_sim::fetch_level<T, 3>(object, x, y, z, 0, level);
}
template <class T> inline T tex1DLayeredLod(cudaTextureObject_t object, float x, int layer, float level) {
    return cudla_sim::fetch_level<T, 1>(object, x, 0, 0, layer, level);
}
template <class T> inline T tex2DLayeredLod(cudaTextureObject_t object, float x, float y, int layer, float level) {
    return cudla_sim::fetch_level<T, 2>(object, x, y, 0, layer, level);
}
template <class T> inline T tex1DGrad(cudaTextureObject_t object, float x, float dx, float dy) {
    float w = static_cast<float>(cudla_sim::texels(object).width);
    return tex1DLod<T>(object, x, cudla_sim::level_of(dx * w, 0, 0, dy * w, 0, 0));
}
template <class T> inline T tex2DGrad(cudaTextureObject_t object, float x, float y, float2 dx, float2 dy) {
    const cudlaSimTexels &of = cudla_sim::texels(object);
    float w = static_cast<float>(of.width), h = static_cast<float>(of.height);
    return tex2DLod<T>(object, x, y, cudla_sim::level_of(dx.x * w, dx.y * h, 0, dy.x * w, dy.y * h, 0));
}
template <class T> inline T tex3DGrad(cudaTextureObject_t object, float x, float y, float z, float4 dx, float4 dy) {
    const cudlaSimTexels &of = cudla_sim::texels(object);
    float w = static_cast<float>(of.width), h = static_cast<float>(of.height), d = static_cast<float>(of.depth);
    float level = cudla_sim::level_of(dx.x * w, dx.y * h, dx.z * d, dy.x * w, dy.y * h, dy.z * d);
    return tex3DLod<T>(object, x, y, z, level);
}
/* One channel of the four texels around a point, counter-clockwise from the lower left. */
template <class T> inline T tex2Dgather(cudaTextureObject_t object, float x, float y, int which = 0) {
    cudlaSimTexels of = cudla_sim::texels(object);
    of.filter = cudaFilterModePoint;
    if (of.normalized) {
        x *= static_cast<float>(of.width), y *= static_cast<float>(of.height);
        of.normalized = 0;
    }
    const float around[4][2] = {{-0.5f, 0.5f}, {0.5f, 0.5f}, {0.5f, -0.5f}, {-0.5f, -0.5f}};
    T result{};
    for (int i = 0; i < 4; i++) {
        T one = cudla_sim::fetch<T, 2>(of, x + around[i][0], y + around[i][1], 0, 0);
        cudla_sim::Channels<T>::at(result, i) = cudla_sim::Channels<T>::at(one, which);
    }
    return result;
}
/* The older form with a pointer for the result. */
template <class T> inline void tex1Dfetch(T *to, cudaTextureObject_t object, int x) {
    *to = tex1Dfetch<T>(object, x);
}
template <class T> inline void tex1D(T *to, cudaTextureObject_t object, float x) {
    *to = tex1D<T>(object, x);
}
template <class T> inline void tex2D(T *to, cudaTextureObject_t object, float x, float y) {
    *to = tex2D<T>(object, x, y);
}
template <class T> inline void tex3D(T *to, cudaTextureObject_t object, float x, float y, float z) {
    *to = tex3D<T>(object, x, y, z);
}

/* --- surfaces; x is in bytes ------------------------------------------------------------------- */

#define CUDLA_SIM_SURFACE(name, parameters, x, y, z)                                               \
    template <class T>                                                                             \
    inline T name##read(cudaSurfaceObject_t object, CUDLA_SIM_ALL parameters,                      \
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                     \
        return cudla_sim::surface_read<T>(object, x, y, z, mode);                                  \
    }                                                                                              \
    template <class T>                                                                             \
    inline void name##read(T *to, cudaSurfaceObject_t object, CUDLA_SIM_ALL parameters,            \
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                  \
        *to = cudla_sim::surface_read<T>(object, x, y, z, mode);                                   \
    }                                                                                              \
    template <class T>                                                                             \
    inline void name##write(T value, cudaSurfaceObject_t object, CUDLA_SIM_ALL parameters,         \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                 \
        cudla_sim::surface_write(value, object, x, y, z, mode);                                    \
    }
#define CUDLA_SIM_ALL(...) __VA_ARGS__
CUDLA_SIM_SURFACE(surf1D, (int x), x, 0, 0)
CUDLA_SIM_SURFACE(surf2D, (int x, int y), x, y, 0)
CUDLA_SIM_SURFACE(surf3D, (int x, int y, int z), x, y, z)
CUDLA_SIM_SURFACE(surf1DLayered, (int x, int layer), x, 0, layer)
CUDLA_SIM_SURFACE(surf2DLayered, (int x, int y, int layer), x, y, layer)
CUDLA_SIM_SURFACE(surfCubemap, (int x, int y, int face), x, y, face)
CUDLA_SIM_SURFACE(surfCubemapLayered, (int x, int y, int face), x, y, face)
#undef CUDLA_SIM_ALL
#undef CUDLA_SIM_SURFACE

#endif
