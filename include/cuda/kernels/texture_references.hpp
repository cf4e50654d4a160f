/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/texture_references.hpp - textures and surfaces that are variables of a file, as CUDA had them before 12.0
 * (CUDA C++ Programming Guide 11, "Texture Reference API"): read before a source that does not compile without.
 *
 * A bound reference has an object; kernels launched before read what was bound then, as binding waits for them.
 */
#ifndef CUDLA_SIM_KERNELS_TEXTURE_REFERENCES_H
#define CUDLA_SIM_KERNELS_TEXTURE_REFERENCES_H

#include <climits>
#include <type_traits>

#include "../cuda_runtime.h"
#include "textures.hpp"

/* What the host may change; a binding takes it as it is then. */
struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    /* Ours: how its elements are read, what it is bound to, and where in it that begins. */
    enum cudaTextureReadMode cudla_sim_read;
    mutable cudaTextureObject_t cudla_sim_object;
    mutable size_t cudla_sim_offset;
};

template <class T, int texType = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct texture : public textureReference {
    texture(int norm = 0, enum cudaTextureFilterMode fMode = cudaFilterModePoint,
            enum cudaTextureAddressMode aMode = cudaAddressModeClamp)
        : texture(norm, fMode, aMode, cudaCreateChannelDesc<T>()) {}
    texture(int norm, enum cudaTextureFilterMode fMode, enum cudaTextureAddressMode aMode,
            struct cudaChannelFormatDesc desc)
        : textureReference{norm, fMode, {aMode, aMode, aMode}, desc, 0, 0, cudaFilterModePoint, 0, 0, 0, 0, mode, 0,
                           0} {}
};

struct surfaceReference {
    struct cudaChannelFormatDesc channelDesc;
    mutable cudaSurfaceObject_t cudla_sim_object; /* ours */
};

template <class T, int dim = cudaSurfaceType1D> struct surface : public surfaceReference {
    surface() : surfaceReference{cudaCreateChannelDesc<T>(), 0} {}
    explicit surface(struct cudaChannelFormatDesc desc) : surfaceReference{desc, 0} {}
    /* The functions for objects do the rest. */
    operator cudaSurfaceObject_t() const { return cudla_sim_object; }
};

/* --- bindings ------------------------------------------------------------------------------------ */

inline cudaError_t cudaUnbindTexture(const struct textureReference *texref) {
    cudaError_t status = cudaDestroyTextureObject(texref->cudla_sim_object); /* waits for who reads it */
    texref->cudla_sim_object = 0;
    return status;
}

namespace cudla_sim {

inline cudaError_t bind(const textureReference *to, const cudaResourceDesc &resource, size_t offset) {
    cudaTextureDesc how{};
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = to->addressMode[i];
    how.filterMode = to->filterMode;
    how.readMode = to->cudla_sim_read;
    how.sRGB = to->sRGB;
    how.normalizedCoords = to->normalized;
    cudaTextureObject_t made;
    cudaError_t status = cudaCreateTextureObject(&made, &resource, &how, nullptr);
    if (status != cudaSuccess)
        return status;
    cudaUnbindTexture(to);
    to->cudla_sim_object = made;
    to->cudla_sim_offset = offset;
    return cudaSuccess;
}

/* A binding begins at a multiple of the device's alignment; how far behind it the memory does is the caller's. */
inline cudaError_t aligned(size_t *offset, const void *&memory, size_t &before) {
    int device = 0, alignment = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&alignment, cudaDevAttrTextureAlignment, device);
    before = reinterpret_cast<size_t>(memory) % static_cast<size_t>(alignment);
    if (before && !offset)
        return cudaErrorInvalidValue;
    if (offset)
        *offset = before;
    memory = static_cast<const char *>(memory) - before;
    return cudaSuccess;
}

inline cudaError_t bind_array(const textureReference *to, cudaArray_const_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return bind(to, resource, 0);
}

} // namespace cudla_sim

/* Programs bind more than there is, whole arrays of another type: memory that is not there is seen where it is
 * fetched. */
inline cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texref, const void *devPtr,
                                   const struct cudaChannelFormatDesc *desc, size_t size = UINT_MAX) {
    size_t before;
    if (cudaError_t status = cudla_sim::aligned(offset, devPtr, before))
        return status;
    const size_t element = static_cast<size_t>(desc->x + desc->y + desc->z + desc->w) / 8;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void *>(devPtr);
    resource.res.linear.desc = *desc;
    resource.res.linear.sizeInBytes = element;
    cudaError_t status = cudla_sim::bind(texref, resource, before);
    if (status == cudaSuccess && element) {
        size_t count = (before + size) / element;
        const_cast<cudlaSimTexels &>(cudla_sim::texels(texref->cudla_sim_object)).width =
            static_cast<int>(count > INT_MAX ? INT_MAX : count);
    }
    return status;
}
inline cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texref, const void *devPtr,
                                     const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                                     size_t pitch) {
    size_t before;
    if (cudaError_t status = cudla_sim::aligned(offset, devPtr, before))
        return status;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void *>(devPtr);
    resource.res.pitch2D.desc = *desc;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return cudla_sim::bind(texref, resource, before);
}
inline cudaError_t cudaBindTextureToArray(const struct textureReference *texref, cudaArray_const_t array,
                                          const struct cudaChannelFormatDesc *) {
    return cudla_sim::bind_array(texref, array);
}
inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texref) {
    if (!texref->cudla_sim_object)
        return cudaErrorInvalidTextureBinding;
    *offset = texref->cudla_sim_offset;
    return cudaSuccess;
}
inline cudaError_t cudaGetTextureReference(const struct textureReference **texref, const void *symbol) {
    *texref = static_cast<const textureReference *>(symbol);
    return cudaSuccess;
}
inline cudaError_t cudaGetSurfaceReference(const struct surfaceReference **surfref, const void *symbol) {
    *surfref = static_cast<const surfaceReference *>(symbol);
    return cudaSuccess;
}
inline cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surfref, cudaArray_const_t array,
                                          const struct cudaChannelFormatDesc *) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    cudaSurfaceObject_t made;
    cudaError_t status = cudaCreateSurfaceObject(&made, &resource);
    if (status != cudaSuccess)
        return status;
    cudaDestroySurfaceObject(surfref->cudla_sim_object);
    surfref->cudla_sim_object = made;
    return cudaSuccess;
}

/* The same by the variables themselves. */
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, D, M> &tex, const void *devPtr,
                                   const struct cudaChannelFormatDesc &desc, size_t size = UINT_MAX) {
    return cudaBindTexture(offset, static_cast<const textureReference *>(&tex), devPtr, &desc, size);
}
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, D, M> &tex, const void *devPtr,
                                   size_t size = UINT_MAX) {
    return cudaBindTexture(offset, tex, devPtr, tex.channelDesc, size);
}
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, D, M> &tex, const void *devPtr,
                                     const struct cudaChannelFormatDesc &desc, size_t width, size_t height,
                                     size_t pitch) {
    return cudaBindTexture2D(offset, static_cast<const textureReference *>(&tex), devPtr, &desc, width, height, pitch);
}
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, D, M> &tex, const void *devPtr, size_t width,
                                     size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, tex, devPtr, tex.channelDesc, width, height, pitch);
}
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaBindTextureToArray(const texture<T, D, M> &tex, cudaArray_const_t array) {
    return cudla_sim::bind_array(&tex, array);
}
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaBindTextureToArray(const texture<T, D, M> &tex, cudaArray_const_t array,
                                          const struct cudaChannelFormatDesc &) {
    return cudla_sim::bind_array(&tex, array);
}
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaUnbindTexture(const texture<T, D, M> &tex) {
    return cudaUnbindTexture(static_cast<const textureReference *>(&tex));
}
template <class T, int D, enum cudaTextureReadMode M>
inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, D, M> &tex) {
    return cudaGetTextureAlignmentOffset(offset, static_cast<const textureReference *>(&tex));
}
template <class T, int D>
inline cudaError_t cudaBindSurfaceToArray(const surface<T, D> &surf, cudaArray_const_t array) {
    return cudaBindSurfaceToArray(static_cast<const surfaceReference *>(&surf), array, nullptr);
}
template <class T, int D>
inline cudaError_t cudaBindSurfaceToArray(const surface<T, D> &surf, cudaArray_const_t array,
                                          const struct cudaChannelFormatDesc &) {
    return cudaBindSurfaceToArray(surf, array);
}

/* --- fetches ------------------------------------------------------------------------------------- */

namespace cudla_sim {

template <int channels> struct Singles { typedef float4 Type; };
template <> struct Singles<1> { typedef float1 Type; };
template <> struct Singles<2> { typedef float2 Type; };

/* What a fetch gives: the elements themselves, or singles in their place. */
template <class T, cudaTextureReadMode M>
using Fetched = std::conditional_t<
    M == cudaReadModeElementType, T,
    std::conditional_t<std::is_arithmetic<T>::value, float, typename Singles<Channels<T>::count>::Type>>;

inline cudaTextureObject_t bound(const textureReference &reference) {
    if (!reference.cudla_sim_object)
        fail_launch(cudaErrorInvalidTextureBinding, "a texture reference that is not bound (cudaBindTexture)");
    return reference.cudla_sim_object;
}

} // namespace cudla_sim

/* A function for objects, of the same arguments. */
#define CUDLA_SIM_FETCH(name, type, parameters, ...)                                               \
    template <class T, enum cudaTextureReadMode M>                                                 \
    inline cudla_sim::Fetched<T, M> name(const texture<T, type, M> &reference, CUDLA_SIM_ALL parameters) { \
        return name<cudla_sim::Fetched<T, M>>(cudla_sim::bound(reference), __VA_ARGS__);           \
    }
#define CUDLA_SIM_ALL(...) __VA_ARGS__
CUDLA_SIM_FETCH(tex1Dfetch, cudaTextureType1D, (int x), x)
CUDLA_SIM_FETCH(tex1D, cudaTextureType1D, (float x), x)
CUDLA_SIM_FETCH(tex2D, cudaTextureType2D, (float x, float y), x, y)
CUDLA_SIM_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), x, y, z)
CUDLA_SIM_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), x, layer)
CUDLA_SIM_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), x, y, layer)
CUDLA_SIM_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), x, y, z)
CUDLA_SIM_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer), x, y, z,
                layer)
CUDLA_SIM_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), x, level)
CUDLA_SIM_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float level), x, y, level)
CUDLA_SIM_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), x, y, z, level)
CUDLA_SIM_FETCH(tex2Dgather, cudaTextureType2D, (float x, float y, int which = 0), x, y, which)
#undef CUDLA_SIM_ALL
#undef CUDLA_SIM_FETCH

#endif
