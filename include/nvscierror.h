/* SPDX-License-Identifier: Apache-2.0
 *
 * nvscierror.h - the one result type of all NvSci libraries.
 *
 * Numbers come in blocks: general, wrong use, resources, arguments, timing, files, network,
 * processes, reconciliation, then one block of 2^24 for each library.
 */
#ifndef INCLUDED_NVSCIERROR_H
#define INCLUDED_NVSCIERROR_H

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
    NvSciError_Success = 0,
    NvSciError_Unknown = 1,

    NvSciError_NotImplemented = 0x10,
    NvSciError_NotSupported = 0x11,

    /* Not allowed, or not now. */
    NvSciError_AccessDenied = 0x20,
    NvSciError_NotPermitted = 0x21,
    NvSciError_InvalidState = 0x22,
    NvSciError_InvalidOperation = 0x23,
    NvSciError_NotInitialized = 0x24,
    NvSciError_AlreadyInUse = 0x25,
    NvSciError_AlreadyDone = 0x26,
    NvSciError_NotYetAvailable = 0x27,
    NvSciError_NoLongerAvailable = 0x28,

    /* Something ran out. */
    NvSciError_InsufficientMemory = 0x30,
    NvSciError_InsufficientResource = 0x31,
    NvSciError_ResourceError = 0x32,

    /* A wrong argument. */
    NvSciError_BadParameter = 0x100,
    NvSciError_BadAddress = 0x101,
    NvSciError_TooBig = 0x102,
    NvSciError_Overflow = 0x103,
    NvSciError_InconsistentData = 0x104,
    NvSciError_InsufficientData = 0x105,
    NvSciError_IndexOutOfRange = 0x106,
    NvSciError_ValueOutOfRange = 0x107,
    NvSciError_Revalidation_Success = 0x108,

    /* A matter of time. */
    NvSciError_Timeout = 0x200,
    NvSciError_TryItAgain = 0x201,
    NvSciError_Busy = 0x202,
    NvSciError_InterruptedCall = 0x203,

    /* Devices. */
    NvSciError_NoSuchDevice = 0x1000,
    NvSciError_NoSpace = 0x1001,
    NvSciError_NoSuchDevAddr = 0x1002,
    NvSciError_IO = 0x1003,
    NvSciError_InvalidIoctlNum = 0x1004,

    /* Files. */
    NvSciError_NoSuchEntry = 0x1100,
    NvSciError_BadFileDesc = 0x1101,
    NvSciError_CorruptedFileSys = 0x1102,
    NvSciError_FileExists = 0x1103,
    NvSciError_IsDirectory = 0x1104,
    NvSciError_ReadOnlyFileSys = 0x1105,
    NvSciError_TextFileBusy = 0x1106,
    NvSciError_FileNameTooLong = 0x1107,
    NvSciError_FileTooBig = 0x1108,
    NvSciError_TooManySymbolLinks = 0x1109,
    NvSciError_TooManyOpenFiles = 0x110A,
    NvSciError_FileTableOverflow = 0x110B,
    NvSciError_EndOfFile = 0x110C,

    /* Connections and messages. */
    NvSciError_ConnectionReset = 0x1200,
    NvSciError_AlreadyInProgress = 0x1201,
    NvSciError_NoData = 0x1202,
    NvSciError_NoDesiredMessage = 0x1203,
    NvSciError_MessageSize = 0x1204,
    NvSciError_NoRemote = 0x1205,

    /* Processes and locks. */
    NvSciError_NoSuchProcess = 0x2000,
    NvSciError_MutexNotRecoverable = 0x2100,
    NvSciError_LockOwnerDead = 0x2101,
    NvSciError_ResourceDeadlock = 0x2102,

    /* Attribute lists. */
    NvSciError_ReconciliationFailed = 0x10100,
    NvSciError_AttrListValidationFailed = 0x10101,
    NvSciError_ObjValidationFailed = 0x10102,

    NvSciError_CommonEnd = 0xFFFFFF,

    NvSciError_NvSciBufUnknown = 0x01000000,
    NvSciError_NvSciBufEnd = 0x01FFFFFF,

    NvSciError_NvSciSyncUnknown = 0x02000000,
    NvSciError_UnsupportedConfig = 0x02000001, /* no primitive suits signaler and waiters */
    NvSciError_ClearedFence = 0x02000002,      /* the fence is bound to nothing */
    NvSciError_NvSciSyncEnd = 0x02FFFFFF,

    NvSciError_NvSciStreamUnknown = 0x03000000,
    NvSciError_StreamInternalError = 0x03000001,
    NvSciError_StreamBadBlock = 0x03000100,
    NvSciError_StreamBadPacket = 0x03000101,
    NvSciError_StreamBadCookie = 0x03000102,
    NvSciError_StreamNotConnected = 0x03000200,
    NvSciError_StreamNotSetupPhase = 0x03000201,
    NvSciError_StreamNotSafetyPhase = 0x03000202,
    NvSciError_NoStreamPacket = 0x03001000,
    NvSciError_StreamPacketInaccessible = 0x03001001,
    NvSciError_StreamPacketDeleted = 0x03001002,
    NvSciError_StreamInfoNotProvided = 0x03003000,
    NvSciError_StreamLockFailed = 0x03400000,
    NvSciError_StreamBadSrcIndex = 0x03800000,
    NvSciError_StreamBadDstIndex = 0x03800001,
    NvSciError_NvSciStreamEnd = 0x03FFFFFF,

    NvSciError_NvSciIpcUnknown = 0x04000000,
    NvSciError_PcieUncorrectableFatal = 0x04000001,
    NvSciError_PcieUncorrectableNonFatal = 0x04000002,
    NvSciError_PcieEdmaTransferErr = 0x04000003,
    NvSciError_PcieValidationError = 0x04000004,
    NvSciError_NvSciIpcEnd = 0x04FFFFFF,

    NvSciError_NvSciEventUnknown = 0x05000000,
    NvSciError_NvSciEventEnd = 0x05FFFFFF
} NvSciError;

#if defined(__cplusplus)
}
#endif

#endif /* INCLUDED_NVSCIERROR_H */
