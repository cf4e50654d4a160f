/*
 * cupva_host_nonsafety.h - what safety builds of the PVA SDK leave out.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_NONSAFETY_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_NONSAFETY_H

#include <stdint.h>

#include "detail/scheduling/cupva_host_mem_alloc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device pointer for memory of the host; CupvaMemFree gives it up again. */
DLL_EXPORT cupvaError_t CupvaImportFromHostPtr(void **devicePtr, void *hostPtr, int64_t size,
                                               cupvaMemAccessType_t access);

/* Does nothing: what VPU code prints is passed on at once, no buffer can be too small. */
DLL_EXPORT cupvaError_t CupvaSetVPUPrintBufferSize(uint32_t size);

#ifdef __cplusplus
}
#endif

#endif
