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
#include "faults.hpp"

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
    if (of.kind == cudaChannelFormatKindFloat) {
        if (of.bits == 16) {
            __half half;
            memcpy(&half, from, 2);
            return __half2float(half);
        }
        float value;
        memcpy(&value, from, 4);
        return value;
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
    if (mode == cudaAddressModeBorder && (at < 0 || at >= size))
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

inline long long whole(float value) {
    if (!(value > -1e9f))
        return -1000000000;
    return value < 1e9f ? static_cast<long long>(std::floor(value)) : 1000000000;
}

/* What is fetched: coordinates, of which `dimensions` count, in a layer. */
template <class T>
inline T fetch(const cudlaSimTexels &of, float x, float y, float z, int dimensions, int layer) {
    float at[3] = {x, y, z};
    const int size[3] = {of.width, of.height, of.depth};
    for (int d = 0; d < dimensions; d++)
        if (of.normalized)
            at[d] *= static_cast<float>(size[d]);
    Place place{0, 0, layer < 0 ? 0 : layer >= of.depth ? of.depth - 1 : layer, true};
    int *axis[3] = {&place.x, &place.y, &place.z};
    if (of.filter == cudaFilterModePoint) {
        for (int d = 0; d < dimensions; d++)
            if (!fold(of, d, whole(at[d]), size[d], *axis[d]))
                place.inside = false;
        return exact<T>(of, place);
    }
    long long low[3] = {0, 0, 0};
    float part[3] = {0, 0, 0};
    for (int d = 0; d < dimensions; d++) {
        float shifted = at[d] - 0.5f;
        low[d] = whole(shifted);
        part[d] = std::floor((shifted - static_cast<float>(low[d])) * 256.0f + 0.5f) / 256.0f;
    }
    T result{};
    constexpr int count = Channels<T>::count;
    float sum[4] = {0, 0, 0, 0};
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        float weight = 1;
        Place here = place;
        int *to[3] = {&here.x, &here.y, &here.z};
        for (int d = 0; d < dimensions; d++) {
            int up = corner >> d & 1;
            weight *= up ? part[d] : 1.0f - part[d];
            if (!fold(of, d, low[d] + up, size[d], *to[d]))
                here.inside = false;
        }
        if (weight == 0)
            continue;
        for (int c = 0; c < count; c++)
            sum[c] += weight * channel(of, here, c);
    }
    for (int c = 0; c < count; c++)
        Channels<T>::at(result, c) = static_cast<typename Channels<T>::Base>(sum[c]);
    return result;
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
    return cudla_sim::fetch<T>(cudla_sim::texels(object), x, 0, 0, 1, 0);
}
template <class T> inline T tex2D(cudaTextureObject_t object, float x, float y) {
    return cudla_sim::fetch<T>(cudla_sim::texels(object), x, y, 0, 2, 0);
}
template <class T> inline T tex3D(cudaTextureObject_t object, float x, float y, float z) {
    return cudla_sim::fetch<T>(cudla_sim::texels(object), x, y, z, 3, 0);
}
template <class T> inline T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
    return cudla_sim::fetch<T>(cudla_sim::texels(object), x, 0, 0, 1, layer);
}
template <class T> inline T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
    return cudla_sim::fetch<T>(cudla_sim::texels(object), x, y, 0, 2, layer);
}
template <class T>
inline T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer) {
    cudlaSimTexels of = cudla_sim::texels(object);
    float u, v;
    int face = cudla_sim::face_of(x, y, z, u, v);
    of.normalized = 1; /* whatever the object says */
    of.address[0] = of.address[1] = cudaAddressModeClamp;
    return cudla_sim::fetch<T>(of, u, v, 0, 2, layer * 6 + face);
}
template <class T> inline T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
    return texCubemapLayered<T>(object, x, y, z, 0);
}
template <class T> inline T tex1DLod(cudaTextureObject_t object, float x, float) {
    return tex1D<T>(object, x);
}
template <class T> inline T tex2DLod(cudaTextureObject_t object, float x, float y, float) {
    return tex2D<T>(object, x, y);
}
template <class T> inline T tex3DLod(cudaTextureObject_t object, float x, float y, float z, float) {
    return tex3D<T>(object, x, y, z);
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
        T one = cudla_sim::fetch<T>(of, x + around[i][0], y + around[i][1], 0, 2, 0);
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
