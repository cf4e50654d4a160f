/*
 * cupva_host_nvsci.hpp - buffers, sync objects and fences of NvSci for the PVA.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_HPP

#include "cupva_host.hpp"
#include "cupva_host_conversions.hpp"
#include "cupva_host_nvsci.h"

namespace cupva {
namespace nvsci {

namespace mem {

/** A device pointer of the PVA for a buffer; mem::Free gives it up. */
inline void *Import(NvSciBufObj const buffer,
                    cupva::mem::AccessType const access = cupva::mem::READ_WRITE)
{
    void *found = nullptr;
    cupva::impl::check(
        CupvaMemImport(&found, buffer, static_cast<cupvaMemAccessType_t>(access)));
    return found;
}

/** What Import needs of a buffer. */
inline void FillAttributes(NvSciBufAttrList const list)
{
    cupva::impl::check(CupvaMemFillAttributes(list));
}

} // namespace mem

/** A sync object that the PVA signals, waits for, or both. */
inline SyncObj Import(NvSciSyncObj const object, SyncClientType const clientType = SIGNALER_WAITER)
{
    cupvaSyncObj_t made = nullptr;
    cupva::impl::check(CupvaSyncObjCreateFromNvsci(
        &made, object, static_cast<cupvaSyncClientType_t>(clientType)));
    return cupva::impl::Conversion::syncObj(made);
}

/** What Import needs of a sync object. */
inline void FillAttributes(NvSciSyncAttrList const list,
                           SyncClientType const clientType = SIGNALER_WAITER)
{
    NvSciSyncAttrList given = list;
    cupva::impl::check(
        CupvaSyncObjFillAttributes(&given, static_cast<cupvaSyncClientType_t>(clientType)));
}

/** `cupvaFence` becomes one that CmdWaitOnFences takes; a cleared one is reached. */
inline void Import(Fence &cupvaFence, NvSciSyncFence const &sciFence)
{
    cupva::impl::check(CupvaFenceImport(&cupva::impl::Conversion::in(cupvaFence), &sciFence));
}

/** A fence of a SyncObj that was imported, after it was requested. */
inline void Export(Fence const &cupvaFence, NvSciSyncFence &sciFence)
{
    cupva::impl::check(CupvaFenceExport(&cupva::impl::Conversion::in(cupvaFence), &sciFence));
}

} // namespace nvsci
} // namespace cupva

#endif
