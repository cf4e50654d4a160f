/*
 * cupva_host_nvsci.hpp - buffers and fences of NvSci for the PVA.
 *
 * Buffers that the CPU can reach can be imported. Sync objects and fences cannot be passed between
 * the two: those functions throw UnsupportedFeature. Needs the NvSci libraries.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_HPP

#include <nvscibuf.h>
#include <nvscisync.h>

#include "cupva_host.hpp"

namespace cupva {
namespace nvsci {

namespace impl {

inline void ask(NvSciError const status, char const *const what)
{
    if (status != NvSciError_Success)
        throw Exception(Error::InvalidArgument,
                        std::string(what) + " failed with NvSciError "
                            + std::to_string(static_cast<int32_t>(status)));
}

/** Bytes of a buffer, whichever type it has. */
inline int64_t bytes(NvSciBufObj const buffer)
{
    NvSciBufAttrList list = nullptr;
    ask(NvSciBufObjGetAttrList(buffer, &list), "nvsci::mem::Import: NvSciBufObjGetAttrList");
    for (NvSciBufAttrKey const key : {NvSciBufRawBufferAttrKey_Size, NvSciBufImageAttrKey_Size,
                                      NvSciBufTensorAttrKey_Size, NvSciBufArrayAttrKey_Size}) {
        NvSciBufAttrKeyValuePair pair{key, nullptr, 0};
        if (NvSciBufAttrListGetAttrs(list, &pair, 1) == NvSciError_Success
            && pair.value != nullptr && pair.len == sizeof(uint64_t))
            return static_cast<int64_t>(*static_cast<uint64_t const *>(pair.value));
    }
    throw Exception(Error::InvalidArgument, "nvsci::mem::Import: the buffer has no attribute that "
                                            "tells its size");
}

[[noreturn]] inline void refuseSync()
{
    cupva::impl::unsupported("nvsci: PVA fences cannot become NvSci fences here, or the other way "
                             "round; wait on the host between the two");
}

} // namespace impl

namespace mem {

/** A device pointer of the PVA for a buffer that the CPU may write to; mem::Free gives it up. */
inline void *Import(NvSciBufObj const buffer,
                    cupva::mem::AccessType const access = cupva::mem::READ_WRITE)
{
    void *host = nullptr, *found = nullptr;
    impl::ask(NvSciBufObjGetCpuPtr(buffer, &host), "nvsci::mem::Import: NvSciBufObjGetCpuPtr");
    cupva::impl::check(CupvaMemImportFromHostPtr(&found, host, impl::bytes(buffer),
                                                 static_cast<cupvaMemAccessType_t>(access)));
    return found;
}

/** What Import needs of a buffer. */
inline void FillAttributes(NvSciBufAttrList const list)
{
    bool access = true;
    NvSciBufAttrValAccessPerm permission = NvSciBufAccessPerm_ReadWrite;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &access, sizeof(access)},
        {NvSciBufGeneralAttrKey_RequiredPerm, &permission, sizeof(permission)}};
    impl::ask(NvSciBufAttrListSetAttrs(list, pairs, 2),
              "nvsci::mem::FillAttributes: NvSciBufAttrListSetAttrs");
}

} // namespace mem

[[noreturn]] inline SyncObj Import(NvSciSyncObj const, SyncClientType const = SIGNALER_WAITER)
{
    impl::refuseSync();
}

[[noreturn]] inline void FillAttributes(NvSciSyncAttrList const,
                                        SyncClientType const = SIGNALER_WAITER)
{
    impl::refuseSync();
}

[[noreturn]] inline void Import(Fence &, NvSciSyncFence const &) { impl::refuseSync(); }

[[noreturn]] inline void Export(Fence const &, NvSciSyncFence &) { impl::refuseSync(); }

} // namespace nvsci
} // namespace cupva

#endif
