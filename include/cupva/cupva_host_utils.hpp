/*
 * cupva_host_utils.hpp - helpers around the host API.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_UTILS_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_UTILS_HPP

#include "cupva_host.hpp"

namespace cupva {

namespace impl {

/** Makes submit() return when the commands have ended. */
struct Synchronous {
    static Stream make(Stream stream)
    {
        stream.m_synchronous = true;
        return stream;
    }
};

} // namespace impl

} // namespace cupva

namespace cupva_utils {

/** The size of one plane of a surface. */
struct PlaneSize {
    int32_t width; /* bytes */
    int32_t height;
};

/** A stream whose submit() returns when the commands have ended. */
inline cupva::Stream CreateSyncStream(cupva::EngineType const engine = cupva::PVA0,
                                      cupva::AffinityType const affinity = cupva::VPU_ANY)
{
    return cupva::impl::Synchronous::make(cupva::Stream::Create(engine, affinity));
}

inline cupva::Stream CreateSyncStream(cupva::Stream stream)
{
    return cupva::impl::Synchronous::make(std::move(stream));
}

/** UnsupportedFeature. */
inline void *AllocSurface(PlaneSize const *, int32_t,
                          cupva::mem::SurfaceFormatType = cupva::mem::BLOCK_LINEAR)
{
    cupva::impl::unsupported("AllocSurface: there are no surface buffers here; mem::Alloc gives raw "
                             "memory");
}

} // namespace cupva_utils

namespace cupva {
namespace utils = ::cupva_utils;
}

#endif
