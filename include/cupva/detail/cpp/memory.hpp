/*
 * memory.hpp - cupva::mem, hardware, versions.
 */
#ifndef CUDLA_SIM_CUPVA_DETAIL_CPP_MEMORY_HPP
#define CUDLA_SIM_CUPVA_DETAIL_CPP_MEMORY_HPP

#include "../../cupva_host_common.hpp"

namespace cupva {

namespace mem {

/** Device memory, filled with zeros. A device pointer may be added to, but not be read from by the
 *  host: see GetHostPointer. */
inline void *Alloc(int64_t const size, AccessType const access = READ_WRITE,
                   AllocType const type = ALLOC_DRAM)
{
    void *found = nullptr;
    impl::check(CupvaMemAlloc(&found, size, static_cast<cupvaMemAccessType_t>(access),
                              static_cast<cupvaMemAllocType_t>(type)));
    return found;
}

inline void Free(void *const devicePtr) { impl::check(CupvaMemFree(devicePtr)); }

/** Where the host sees device memory. */
inline void *GetHostPointer(void *const devicePtr)
{
    void *found = nullptr;
    impl::check(CupvaMemGetHostPointer(&found, devicePtr));
    return found;
}

inline void *GetL2BaseAddress()
{
    void *found = nullptr;
    impl::check(CupvaMemGetL2BaseAddress(&found));
    return found;
}

inline void GetPointerAttributes(void const *const devicePtr, PointerAttributes &attributes)
{
    cupvaPointerAttributes_t found{};
    impl::check(CupvaMemGetPointerAttributes(devicePtr, &found));
    attributes = {found.devicePtr,
                  found.hostPtr,
                  found.size,
                  found.offset,
                  static_cast<MemType>(found.memType),
                  static_cast<BufferType>(found.bufferType)};
}

inline void GetSurfaceAttributes(void const *const devicePtr, SurfaceAttributes &attributes)
{
    cupvaSurfaceAttributes_t found{};
    impl::check(CupvaMemGetSurfaceAttributes(devicePtr, &found));
    attributes.format = static_cast<SurfaceFormatType>(found.format);
    attributes.numPlanes = found.numPlanes;
    for (std::size_t i = 0; i < attributes.planes.size(); i++) {
        cupvaPlaneInfo_t const &plane = found.planes[i];
        attributes.planes[i] = {plane.offset, plane.linePitch, plane.widthInBytes, plane.height};
    }
}

inline void ConvertToGeometry(SurfaceAttributes const &attributes, int32_t const bpp,
                              PlanarGeometry &geometry)
{
    cupvaSurfaceAttributes_t given{};
    given.format = static_cast<cupvaSurfaceFormatType_t>(attributes.format);
    given.numPlanes = attributes.numPlanes;
    for (std::size_t i = 0; i < attributes.planes.size(); i++) {
        PlaneInfo const &plane = attributes.planes[i];
        given.planes[i] = {plane.offset, plane.linePitch, plane.widthInBytes, plane.height};
    }
    impl::check(CupvaMemConvertToGeometry(&given, bpp, &geometry));
}

/** CUDA memory is registered at its first use, so this and Unregister change nothing; HOST is an
 * UnsupportedFeature, as are MapL2 and UnmapL2. */
inline void Register(void const *const ptr, int64_t const size, ExternalAllocType const type)
{
    impl::check(CupvaMemRegister(ptr, size, static_cast<cupvaExternalAllocType_t>(type)));
}

inline void Unregister(void const *const ptr) { impl::check(CupvaMemUnregister(ptr)); }

inline void *MapL2(void *const devicePtr, int64_t const size, L2SRAMPolicyType const policy)
{
    void *found = nullptr;
    impl::check(CupvaMemMapL2(&found, devicePtr, size,
                              static_cast<cupvaL2SRAMPolicyType_t>(policy)));
    return found;
}

inline void UnmapL2(void *const l2Ptr) { impl::check(CupvaMemUnmapL2(l2Ptr)); }

} // namespace mem

inline HardwareInfo GetHardwareInfo()
{
    cupvaHardwareInfo_t found{};
    impl::check(CupvaGetHardwareInfo(&found));
    return {found.pvaEngineCount, found.pvaVPUCount, static_cast<GenType>(found.pvaGen)};
}

inline void GetHardwareInfo(HardwareInfo &info) { info = GetHardwareInfo(); }

inline uint32_t GetDriverVersion()
{
    uint32_t found = 0;
    impl::check(CupvaGetDriverVersion(&found));
    return found;
}

inline void GetDriverVersion(uint32_t &version) { version = GetDriverVersion(); }

inline uint32_t GetRuntimeVersion()
{
    uint32_t found = 0;
    impl::check(CupvaGetRuntimeVersion(&found));
    return found;
}

inline void GetRuntimeVersion(uint32_t &version) { version = GetRuntimeVersion(); }

} // namespace cupva

#endif
