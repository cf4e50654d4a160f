/* SPDX-License-Identifier: Apache-2.0
 *
 * nvsciipc.h - named channels between processes.
 *
 * cudla-sim simulates one process. The functions are here so that programs compile and link; every
 * one that could move data answers NvSciError_NotSupported (the void ones do nothing), after
 * NvSciError_BadParameter for NULL arguments. NvSciIpcCheckVersionCompatibility works.
 */
#ifndef INCLUDED_NVSCIIPC_H
#define INCLUDED_NVSCIIPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvscierror.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Variables for a compiler, plain numbers for the generator of our bindings. */
#if defined(CUDLA_SIM_PARSE)
#define NvSciIpcMajorVersion 1U
#define NvSciIpcMinorVersion 0U
#else
static const uint32_t NvSciIpcMajorVersion = 1U;
static const uint32_t NvSciIpcMinorVersion = 0U;
#endif

#define NVSCIIPC_MAX_ENDPOINT_NAME 64U /* bytes, the closing NUL included */
#define NVSCIIPC_INFINITE_WAIT -1LL

/* Bits answered by NvSciIpcGetEvent. */
#define NV_SCI_IPC_EVENT_READ 0x01U
#define NV_SCI_IPC_EVENT_WRITE 0x02U
#define NV_SCI_IPC_EVENT_CONN_EST 0x04U
#define NV_SCI_IPC_EVENT_CONN_RESET 0x08U
#define NV_SCI_IPC_EVENT_WRITE_EMPTY 0x10U
#define NV_SCI_IPC_EVENT_ASYNC_ERROR 0x20U
#define NV_SCI_IPC_EVENT_CONN_EST_ALL 0x17U /* any bit that only a connected channel shows */

typedef uint64_t NvSciIpcEndpoint;

typedef struct NvSciIpcEndpointInfo {
    uint32_t nframes;
    uint32_t frame_size; /* bytes */
} NvSciIpcEndpointInfo;

/* Belong to the event library, which is not simulated; only pointers to them occur. */
typedef struct NvSciEventService NvSciEventService;
typedef struct NvSciEventNotifier NvSciEventNotifier;

/* Start and end of the library's use in this process. */
NvSciError NvSciIpcInit(void);
void NvSciIpcDeinit(void);

/* Opening, closing and resetting one end of a channel; the *Safe variants report the outcome. */
NvSciError NvSciIpcOpenEndpoint(const char *endpoint, NvSciIpcEndpoint *handle);
NvSciError NvSciIpcOpenEndpointWithEventService(const char *endpoint, NvSciIpcEndpoint *handle,
                                                NvSciEventService *eventService);
void NvSciIpcCloseEndpoint(NvSciIpcEndpoint handle);
NvSciError NvSciIpcCloseEndpointSafe(NvSciIpcEndpoint handle, bool clear);
void NvSciIpcResetEndpoint(NvSciIpcEndpoint handle);
NvSciError NvSciIpcResetEndpointSafe(NvSciIpcEndpoint handle);
NvSciError NvSciIpcGetEndpointInfo(NvSciIpcEndpoint handle, NvSciIpcEndpointInfo *info);

/* Receiving: copy out a frame, or look at it in place and then step over it. */
NvSciError NvSciIpcRead(NvSciIpcEndpoint handle, void *buf, size_t size, int32_t *bytes);
NvSciError NvSciIpcReadSafe(NvSciIpcEndpoint handle, void *buf, uint32_t size, uint32_t *bytes);
NvSciError NvSciIpcReadGetNextFrame(NvSciIpcEndpoint handle, const volatile void **buf);
NvSciError NvSciIpcReadAdvance(NvSciIpcEndpoint handle);

/* Sending: copy in a frame, or fill it in place and then pass it on. */
NvSciError NvSciIpcWrite(NvSciIpcEndpoint handle, const void *buf, size_t size, int32_t *bytes);
NvSciError NvSciIpcWriteSafe(NvSciIpcEndpoint handle, const void *buf, uint32_t size,
                             uint32_t *bytes);
NvSciError NvSciIpcWriteGetNextFrame(NvSciIpcEndpoint handle, volatile void **buf);
NvSciError NvSciIpcWriteAdvance(NvSciIpcEndpoint handle);

/* Learning that something happened. The QNX ones exist for source compatibility only. */
NvSciError NvSciIpcGetEvent(NvSciIpcEndpoint handle, uint32_t *events);
NvSciError NvSciIpcGetEventSafe(NvSciIpcEndpoint handle, uint32_t *events);
NvSciError NvSciIpcGetEventNotifier(NvSciIpcEndpoint handle, NvSciEventNotifier **eventNotifier);
NvSciError NvSciIpcGetLinuxEventFd(NvSciIpcEndpoint handle, int32_t *fd);
NvSciError NvSciIpcSetQnxPulseParam(NvSciIpcEndpoint handle, int32_t coid, int16_t pulsePriority,
                                    int16_t pulseCode, void *pulseValue);
NvSciError NvSciIpcSetQnxPulseParamSafe(NvSciIpcEndpoint handle, int32_t coid,
                                        int16_t pulsePriority, int16_t pulseCode);
NvSciError NvSciIpcInspectEventQnx(int32_t chid, uint16_t numEvents, uint32_t epCount,
                                   NvSciIpcEndpoint **epHandleArray);

/* Says whether this library can stand in for version majorVer.minorVer.
 * NvSciError_Success, NvSciError_BadParameter. */
NvSciError NvSciIpcCheckVersionCompatibility(uint32_t majorVer, uint32_t minorVer,
                                             bool *isCompatible);

#if defined(__cplusplus)
}
#endif

#endif /* INCLUDED_NVSCIIPC_H */
