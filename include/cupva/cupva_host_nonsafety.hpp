/*
 * cupva_host_nonsafety.hpp - what safety builds of the PVA SDK leave out.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_NONSAFETY_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_NONSAFETY_HPP

#include "cupva_host.hpp"

#ifndef CUPVA_ALLOW_NONSAFETY
#define CUPVA_ALLOW_NONSAFETY 1
#endif
static_assert(CUPVA_ALLOW_NONSAFETY == 1,
              "cupva_host_nonsafety.hpp needs CUPVA_ALLOW_NONSAFETY=1, or no such macro");

namespace cupva {

namespace mem {

/** A device pointer for memory of the host; mem::Free gives it up again. */
inline void *ImportFromHostPtr(void *const hostPtr, int64_t const size,
                               AccessType const access = READ_WRITE)
{
    void *found = nullptr;
    impl::check(CupvaMemImportFromHostPtr(&found, hostPtr, size,
                                          static_cast<cupvaMemAccessType_t>(access)));
    return found;
}

} // namespace mem

/** Does nothing: what VPU code prints is passed on at once, no buffer can be too small. */
inline void SetVPUPrintBufferSize(uint32_t const) {}

} // namespace cupva

#endif
