/*
 * cupva_host_nvsci.hpp - buffers and fences of NvSci for the PVA.
 *
 * The PVA's memory is shared with the processes that run VPU programs, and NvSci buffers are not:
 * everything here throws UnsupportedFeature.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_HPP

#include <nvscibuf.h>
#include <nvscisync.h>

#include "cupva_host.hpp"

namespace cupva {
namespace nvsci {

namespace impl {

[[noreturn]] inline void refuseBuffer()
{
    cupva::impl::unsupported("nvsci::mem: the processes that run VPU programs cannot see NvSci "
                             "buffers; copy the data to memory of mem::Alloc");
}

[[noreturn]] inline void refuseSync()
{
    cupva::impl::unsupported("nvsci: PVA fences cannot become NvSci fences here, or the other way "
                             "round; wait on the host between the two");
}

} // namespace impl

namespace mem {

[[noreturn]] inline void *Import(NvSciBufObj const,
                                 cupva::mem::AccessType const = cupva::mem::READ_WRITE)
{
    impl::refuseBuffer();
}

[[noreturn]] inline void FillAttributes(NvSciBufAttrList const) { impl::refuseBuffer(); }

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
