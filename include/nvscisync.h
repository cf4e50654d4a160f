/* SPDX-License-Identifier: Apache-2.0
 *
 * nvscisync.h - fences that one engine signals and others wait for.
 *
 * As with buffers, attribute lists of the one signaler and all waiters are reconciled and give a sync
 * object; each signal it will make is a fence. One header serves both public generations of the
 * library (2.4 and 2.8): it has the enumerators and functions of the newer one.
 *
 * Unless a comment says otherwise, functions answer NvSciError_Success, NvSciError_BadParameter for a
 * NULL pointer, a handle that is not alive or a value out of range, and
 * NvSciError_InsufficientMemory when memory runs out. Freeing NULL is harmless. Times are
 * microseconds.
 */
#ifndef INCLUDED_NVSCISYNC_H
#define INCLUDED_NVSCISYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvscibuf.h"
#include "nvscierror.h"
#include "nvsciipc.h"

#if defined(CUDLA_SIM_PARSE) || !defined(__GNUC__)
#define NVSCISYNC_PACKED
#else
#define NVSCISYNC_PACKED __attribute__((packed))
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Version and limits ---------------------------------------------------------------------- */

/* Variables for a compiler, plain numbers for the generator of our bindings. */
#if defined(CUDLA_SIM_PARSE)
#define NvSciSyncMajorVersion 2U
#define NvSciSyncMinorVersion 8U
#define NvSciSyncFenceMaxTimeout 9223372036854775
#else
static const uint32_t NvSciSyncMajorVersion = 2U;
static const uint32_t NvSciSyncMinorVersion = 8U;
static const int64_t NvSciSyncFenceMaxTimeout = INT64_MAX / 1000; /* so that nanoseconds fit */
#endif

/* ---- Attributes -------------------------------------------------------------------------------- */

/* After each key: the type of its value; (out) = answered by reconciliation, not settable. */
typedef enum {
    NvSciSyncAttrKey_LowerBound = 0,
    NvSciSyncAttrKey_NeedCpuAccess = 1,                       /* bool */
    NvSciSyncAttrKey_RequiredPerm = 2,                        /* NvSciSyncAccessPerm */
    NvSciSyncAttrKey_ActualPerm = 3,                          /* NvSciSyncAccessPerm (out) */
    NvSciSyncAttrKey_WaiterContextInsensitiveFenceExports = 4, /* bool */
    NvSciSyncAttrKey_WaiterRequireTimestamps = 5,             /* bool */
    NvSciSyncAttrKey_RequireDeterministicFences = 6,          /* bool */
    /* 2.8 */
    NvSciSyncAttrKey_NumTimestampSlots = 7,  /* uint32_t */
    NvSciSyncAttrKey_NumTaskStatusSlots = 8, /* uint32_t */
    NvSciSyncAttrKey_MaxPrimitiveValue = 9,  /* uint64_t */
    NvSciSyncAttrKey_PrimitiveInfo = 10,     /* NvSciSyncAttrValPrimitiveType[] */
    NvSciSyncAttrKey_PeerLocationInfo = 11,  /* NvSciBufPeerLocationInfo[] */
    NvSciSyncAttrKey_GpuId = 12,             /* NvSciRmGpuId[] */
    NvSciSyncAttrKey_PeerHwEngineArray = 13, /* NvSciBufPeerHwEngine[] */
    NvSciSyncAttrKey_UpperBound = 14         /* moves from one version to the next */
} NvSciSyncAttrKey;

/* What one side may do with an object; eight bytes wide in both generations. */
typedef uint64_t NvSciSyncAccessPerm;
#define NvSciSyncAccessPerm_WaitOnly 0x1UL
#define NvSciSyncAccessPerm_SignalOnly 0x2UL
#define NvSciSyncAccessPerm_WaitSignal 0x3UL
#define NvSciSyncAccessPerm_Auto 0x8000000000000000UL /* for export and import only */

enum NvSciSyncAttrValPrimitiveTypeRec {
    NvSciSyncAttrValPrimitiveType_LowerBound = 0,
    NvSciSyncAttrValPrimitiveType_Syncpoint = 1,
    NvSciSyncAttrValPrimitiveType_SysmemSemaphore = 2,
    NvSciSyncAttrValPrimitiveType_VidmemSemaphore = 3,
    NvSciSyncAttrValPrimitiveType_SysmemSemaphorePayload64b = 4,
    NvSciSyncAttrValPrimitiveType_VidmemSemaphorePayload64b = 5,
    NvSciSyncAttrValPrimitiveType_UpperBound = 6
};
typedef enum NvSciSyncAttrValPrimitiveTypeRec NvSciSyncAttrValPrimitiveType;

/* How NvSciSyncFenceWaitWithMode passes the time. */
typedef enum {
    NvSciSyncWaitMode_Default = 0,
    NvSciSyncWaitMode_BusyWithYield = 1,
    NvSciSyncWaitMode_BusyNoYield = 2,
    NvSciSyncWaitMode_Blocking = 3
} NvSciSyncWaitMode;

/* What a signaler may say of the task behind a fence. */
typedef enum {
    NvSciSyncTaskStatus_Success = 0,
    NvSciSyncTaskStatus_Failure = 1,
    NvSciSyncTaskStatus_Invalid = 0xFFFF /* nothing said yet */
} NvSciSyncTaskStatusVal;

/* ---- Types ------------------------------------------------------------------------------------- */

typedef struct NvSciSyncModuleRec *NvSciSyncModule;
typedef struct NvSciSyncCpuWaitContextRec *NvSciSyncCpuWaitContext;
typedef struct NvSciSyncAttrListRec *NvSciSyncAttrList;
typedef struct NvSciSyncObjRec *NvSciSyncObj;
typedef const struct NvSciSyncObjRec *NvSciSyncObjConst;

typedef struct {
    NvSciSyncAttrKey attrKey;
    const void *value;
    size_t len; /* bytes */
} NvSciSyncAttrKeyValuePair;

/* Lives in the program's memory. All zero means bound to nothing; anything else holds a reference
 * on its sync object until NvSciSyncFenceClear. */
typedef struct NvSciSyncFence {
    uint64_t payload[6];
} NvSciSyncFence;

#if !defined(CUDLA_SIM_PARSE)
static const NvSciSyncFence NvSciSyncFenceInitializer = {{0U}};
#endif

typedef struct {
    uint64_t timestamp;
    uint32_t statusEngine;
    uint16_t subframe;
    uint16_t status; /* an NvSciSyncTaskStatusVal, or the engine's own code */
} NVSCISYNC_PACKED NvSciSyncTaskStatus;

typedef struct {
    uint64_t payload[7];
} NvSciSyncFenceIpcExportDescriptor;

typedef struct {
    uint64_t payload[128];
} NvSciSyncObjIpcExportDescriptor;

/* ---- Module and CPU waiting --------------------------------------------------------------------- */

/* Opens the library. Lists, objects and fences keep a module alive after it is closed.
 * Also NvSciError_InsufficientResource. */
NvSciError NvSciSyncModuleOpen(NvSciSyncModule *newModule);
void NvSciSyncModuleClose(NvSciSyncModule module);

/* Says whether this library can stand in for version majorVer.minorVer. */
NvSciError NvSciSyncCheckVersionCompatibility(uint32_t majorVer, uint32_t minorVer,
                                              bool *isCompatible);

/* Resources that a CPU thread needs for waiting, one wait at a time. */
NvSciError NvSciSyncCpuWaitContextAlloc(NvSciSyncModule module, NvSciSyncCpuWaitContext *newContext);
void NvSciSyncCpuWaitContextFree(NvSciSyncCpuWaitContext context);

/* ---- Attribute lists ----------------------------------------------------------------------------- */

/* Makes an empty list, or ends one. */
NvSciError NvSciSyncAttrListCreate(NvSciSyncModule module, NvSciSyncAttrList *attrList);
void NvSciSyncAttrListFree(NvSciSyncAttrList attrList);

/* Writes attributes; values are copied. NvSciError_BadParameter also for a key that is set already,
 * occurs twice or may not be written, a NULL value, a wrong length and a reconciled list; then
 * nothing is written. */
NvSciError NvSciSyncAttrListSetAttrs(NvSciSyncAttrList attrList,
                                     const NvSciSyncAttrKeyValuePair *pairArray, size_t pairCount);

/* Reads attributes of slot 0, one attribute of slot 0, or attributes of any slot; absent ones answer
 * length 0. The values belong to the list. */
NvSciError NvSciSyncAttrListGetAttrs(NvSciSyncAttrList attrList, NvSciSyncAttrKeyValuePair *pairArray,
                                     size_t pairCount);
NvSciError NvSciSyncAttrListGetAttr(NvSciSyncAttrList attrList, NvSciSyncAttrKey key,
                                    const void **value, size_t *len);
NvSciError NvSciSyncAttrListSlotGetAttrs(NvSciSyncAttrList attrList, size_t slotIndex,
                                         NvSciSyncAttrKeyValuePair *pairArray, size_t pairCount);

/* Counts the lists that were appended into this one; 0 for a bad handle. */
size_t NvSciSyncAttrListGetSlotCount(NvSciSyncAttrList attrList);

/* Prints a list into memory of its own, to be released with free(). */
NvSciError NvSciSyncAttrListDebugDump(NvSciSyncAttrList attrList, void **buf, size_t *len);

/* Copies a list; copies several unreconciled lists into one with a slot for each. */
NvSciError NvSciSyncAttrListClone(NvSciSyncAttrList origAttrList, NvSciSyncAttrList *newAttrList);
NvSciError NvSciSyncAttrListAppendUnreconciled(
    const NvSciSyncAttrList inputUnreconciledAttrListArray[], size_t inputUnreconciledAttrListCount,
    NvSciSyncAttrList *newUnreconciledAttrList);

/* Merges lists of exactly one signaler and at least one waiter. On failure newConflictList has
 * what each list set of the attributes at fault, otherwise it is NULL. Also NvSciError_ReconciliationFailed,
 * NvSciError_UnsupportedConfig (no primitive suits everybody). */
NvSciError NvSciSyncAttrListReconcile(const NvSciSyncAttrList inputArray[], size_t inputCount,
                                      NvSciSyncAttrList *newReconciledList,
                                      NvSciSyncAttrList *newConflictList);
NvSciError NvSciSyncAttrListIsReconciled(NvSciSyncAttrList attrList, bool *isReconciled);

/* Checks a reconciled list against wishes. Also NvSciError_AttrListValidationFailed. */
NvSciError NvSciSyncAttrListValidateReconciled(
    NvSciSyncAttrList reconciledAttrList,
    const NvSciSyncAttrList inputUnreconciledAttrListArray[], size_t inputUnreconciledAttrListCount,
    bool *isReconciledListValid);
NvSciError NvSciSyncAttrListValidateReconciledAgainstAttrs(
    NvSciSyncAttrList reconciledAttrList, const NvSciSyncAttrKeyValuePair *pairArray,
    size_t pairCount, NvSciSyncAccessPerm permissions);

/* Adds what a chip-to-chip peer needs: NvSciError_NotSupported in this simulator. */
NvSciError NvSciSyncFillC2cAttrs(NvSciSyncAttrList unrecAttrList, NvSciSyncAccessPerm permissions);

/* ---- Objects --------------------------------------------------------------------------------------- */

/* Makes an object from a reconciled list; or reconciles and makes it in one step. */
NvSciError NvSciSyncObjAlloc(NvSciSyncAttrList reconciledList, NvSciSyncObj *syncObj);
NvSciError NvSciSyncAttrListReconcileAndObjAlloc(const NvSciSyncAttrList inputArray[],
                                                 size_t inputCount, NvSciSyncObj *syncObj,
                                                 NvSciSyncAttrList *newConflictList);

/* Makes another handle to the same object, or ends one. */
NvSciError NvSciSyncObjDup(NvSciSyncObj syncObj, NvSciSyncObj *dupObj);
void NvSciSyncObjFree(NvSciSyncObj syncObj);

/* Answers the object's reconciled list, which stays the object's: do not free it. */
NvSciError NvSciSyncObjGetAttrList(NvSciSyncObj syncObj, NvSciSyncAttrList *syncAttrList);
NvSciError NvSciSyncObjValidate(NvSciSyncObj syncObj);
NvSciError NvSciSyncObjAttachPeer(NvSciSyncObj syncObj, const NvSciSyncAttrList inputArray[],
                                  size_t inputCount);

/* For a CPU signaler: reserves the next signal as a fence, or makes the next signal.
 * NvSciError_BadParameter also when the CPU is not the signaler. */
NvSciError NvSciSyncObjGenerateFence(NvSciSyncObj syncObj, NvSciSyncFence *syncFence);
NvSciError NvSciSyncObjSignal(NvSciSyncObj syncObj);

/* ---- Fences ---------------------------------------------------------------------------------------- */

/* Waits for a fence; timeoutUs -1 is forever, 0 just looks. A cleared fence is an expired one.
 * Also NvSciError_Timeout; NvSciError_BadParameter above NvSciSyncFenceMaxTimeout. */
NvSciError NvSciSyncFenceWait(const NvSciSyncFence *syncFence, NvSciSyncCpuWaitContext context,
                              int64_t timeoutUs);
NvSciError NvSciSyncFenceWaitWithMode(const NvSciSyncFence *syncFence,
                                      NvSciSyncCpuWaitContext context, int64_t timeoutUs,
                                      NvSciSyncWaitMode waitMode);

/* Unbinds a fence; binds a second fence to the same signal. Both drop what the target held. */
void NvSciSyncFenceClear(NvSciSyncFence *syncFence);
NvSciError NvSciSyncFenceDup(const NvSciSyncFence *srcSyncFence, NvSciSyncFence *dstSyncFence);

/* Binds a fence to signal `value` of an object, and the way back. For primitives with ids, `id` is the
 * sync point's number, for semaphores it is 0. Also NvSciError_Overflow; extraction from a cleared
 * fence: NvSciError_ClearedFence. */
NvSciError NvSciSyncFenceUpdateFence(NvSciSyncObj syncObj, uint64_t id, uint64_t value,
                                     NvSciSyncFence *syncFence);
NvSciError NvSciSyncFenceExtractFence(const NvSciSyncFence *syncFence, uint64_t *id, uint64_t *value);

/* When the signal came and how its task ended. Also NvSciError_ClearedFence;
 * NvSciError_BadParameter when no waiter asked for it. */
NvSciError NvSciSyncFenceGetTimestamp(const NvSciSyncFence *syncFence, uint64_t *timestampUS);
NvSciError NvSciSyncFenceGetTaskStatus(const NvSciSyncFence *syncFence,
                                       NvSciSyncTaskStatus *taskStatus);

/* Ties a fence to a slot of the object's timestamp or status buffer, and the way back. */
NvSciError NvSciSyncFenceAddTimestampSlot(NvSciSyncFence *syncFence, uint32_t timestampSlot);
NvSciError NvSciSyncFenceAddTaskStatusSlot(NvSciSyncFence *syncFence, uint32_t taskStatusSlot);
NvSciError NvSciSyncFenceExtractTimestampSlot(NvSciSyncFence *syncFence, uint32_t *timeStampSlot);

/* ---- To and from other processes: NvSciError_NotSupported in this simulator ------------------------- */

NvSciError NvSciSyncIpcExportAttrListAndObj(NvSciSyncObj syncObj, NvSciSyncAccessPerm permissions,
                                            NvSciIpcEndpoint ipcEndpoint, void **attrListAndObjDesc,
                                            size_t *attrListAndObjDescSize);
NvSciError NvSciSyncIpcImportAttrListAndObj(
    NvSciSyncModule module, NvSciIpcEndpoint ipcEndpoint, const void *attrListAndObjDesc,
    size_t attrListAndObjDescSize, NvSciSyncAttrList const attrList[], size_t attrListCount,
    NvSciSyncAccessPerm minPermissions, int64_t timeoutUs, NvSciSyncObj *syncObj);
void NvSciSyncAttrListAndObjFreeDesc(void *attrListAndObjDescBuf);

NvSciError NvSciSyncObjIpcExport(NvSciSyncObj syncObj, NvSciSyncAccessPerm permissions,
                                 NvSciIpcEndpoint ipcEndpoint,
                                 NvSciSyncObjIpcExportDescriptor *desc);
NvSciError NvSciSyncObjIpcImport(NvSciIpcEndpoint ipcEndpoint,
                                 const NvSciSyncObjIpcExportDescriptor *desc,
                                 NvSciSyncAttrList inputAttrList, NvSciSyncAccessPerm permissions,
                                 int64_t timeoutUs, NvSciSyncObj *syncObj);

NvSciError NvSciSyncIpcExportFence(const NvSciSyncFence *syncFence, NvSciIpcEndpoint ipcEndpoint,
                                   NvSciSyncFenceIpcExportDescriptor *desc);
NvSciError NvSciSyncIpcImportFence(NvSciSyncObj syncObj,
                                   const NvSciSyncFenceIpcExportDescriptor *desc,
                                   NvSciSyncFence *syncFence);

NvSciError NvSciSyncAttrListIpcExportUnreconciled(
    const NvSciSyncAttrList unreconciledAttrListArray[], size_t unreconciledAttrListCount,
    NvSciIpcEndpoint ipcEndpoint, void **descBuf, size_t *descLen);
NvSciError NvSciSyncAttrListIpcExportReconciled(NvSciSyncAttrList reconciledAttrList,
                                                NvSciIpcEndpoint ipcEndpoint, void **descBuf,
                                                size_t *descLen);
NvSciError NvSciSyncAttrListIpcImportUnreconciled(NvSciSyncModule module,
                                                  NvSciIpcEndpoint ipcEndpoint, const void *descBuf,
                                                  size_t descLen,
                                                  NvSciSyncAttrList *importedUnreconciledAttrList);
NvSciError NvSciSyncAttrListIpcImportReconciled(
    NvSciSyncModule module, NvSciIpcEndpoint ipcEndpoint, const void *descBuf, size_t descLen,
    const NvSciSyncAttrList inputUnreconciledAttrListArray[], size_t inputUnreconciledAttrListCount,
    NvSciSyncAttrList *importedReconciledAttrList);
void NvSciSyncAttrListFreeDesc(void *descBuf);

#if defined(__cplusplus)
}
#endif

#endif /* INCLUDED_NVSCISYNC_H */
