/*
 * cupva_host_nvsci.h - buffers, sync objects and fences of NvSci for the PVA.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_NVSCI_H

#include <nvscibuf.h>
#include <nvscisync.h>

#include "detail/scheduling/cupva_host_mem_alloc.h"
#include "detail/scheduling/cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the PVA needs of a buffer. */
DLL_EXPORT cupvaError_t CupvaMemFillAttributes(NvSciBufAttrList const sciBufAttr);

/* A device pointer of the PVA for the buffer; CupvaMemFree gives it up. */
DLL_EXPORT cupvaError_t CupvaMemImport(void **const pvaPtr, NvSciBufObj const buff,
                                       cupvaMemAccessType_t const accessType);

/* `fence` becomes one that CmdWaitOnFences and CupvaFenceWait take; a cleared one is reached. */
DLL_EXPORT cupvaError_t CupvaFenceImport(cupvaFence_t *const fence,
                                         NvSciSyncFence const *const sciFence);

/* A fence of a sync object from CupvaSyncObjCreateFromNvsci, after it was requested. */
DLL_EXPORT cupvaError_t CupvaFenceExport(cupvaFence_t const *const fence,
                                         NvSciSyncFence *const sciFence);

DLL_EXPORT cupvaError_t CupvaSyncObjCreateFromNvsci(cupvaSyncObj_t *const syncObj,
                                                    NvSciSyncObj const sciSyncobj,
                                                    cupvaSyncClientType_t const clientType);

/* What the PVA needs of a sync object that it signals, waits for, or both. */
DLL_EXPORT cupvaError_t CupvaSyncObjFillAttributes(NvSciSyncAttrList *const attrList,
                                                   cupvaSyncClientType_t const clientType);

#ifdef __cplusplus
}
#endif

#endif
