/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_runtime_api.h - the functions of the CUDA runtime subset, for C and C++.
 *
 * Every function answers cudaSuccess or an error, which the calling thread can also read with
 * cudaGetLastError. Unless a comment says otherwise the errors are
 *   cudaErrorInvalidValue           a NULL result, a size, flag or address that makes no sense
 *   cudaErrorInvalidResourceHandle  a stream, event or external object that is not alive
 *   cudaErrorInvalidDevice          a device number that does not exist
 *   cudaErrorNoDevice               no GPU is configured
 *   cudaErrorNotPermitted           the caller is a host function that runs in a stream
 *   cudaErrorNotSupported           outside the subset; the explanation names what
 * and the failure of earlier asynchronous work, cudaErrorExternalDevice for a faulted DLA among it.
 *
 * "Async" means: queued on a stream, done in its order. Stream NULL is the legacy stream, which waits
 * for the blocking streams and makes them wait.
 */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include "crt/launches.h"
#include "crt/texture_layout.h"
#include "driver_types.h"
#include "texture_types.h"
#include "vector_types.h"
#if defined(CUDLA_SIM_PARSE)
#include "crt/host_runtime.h" /* so that one header lists every export of the runtime */
#endif

#define CUDART_VERSION 12090

#if defined(__cplusplus)
#define CUDLA_SIM_DEFAULT(value) = value
#else
#define CUDLA_SIM_DEFAULT(value)
#endif

/* Later generations of a function carry a suffix; source code is renamed, both symbols exist. The
 * library's own build (which alone defines CUDLA_SIM_BUILD) needs every name as it is. */
#if !defined(CUDLA_SIM_PARSE) && !defined(CUDLA_SIM_BUILD)
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#define cudaSignalExternalSemaphoresAsync cudaSignalExternalSemaphoresAsync_v2
#define cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_v2
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Versions and errors --------------------------------------------------------------------- */

/* Versions as major * 1000 + minor * 10; they need no device. */
cudaError_t cudaDriverGetVersion(int *driverVersion);
cudaError_t cudaRuntimeGetVersion(int *runtimeVersion);

/* The last error of the calling thread: read and forget it, or only read it. The failure of
 * asynchronous work that ruins the context stays until cudaDeviceReset. */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

/* Name and one-line meaning of any error; never NULL. */
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* ---- Devices --------------------------------------------------------------------------------- */

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);

/* The device of the calling thread, 0 to begin with. */
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int *flags);

/* Waits for all work of the device; frees everything the process has on it. */
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);

cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);

/* Writes into an NvSciSyncAttrList what the GPU needs as signaler (cudaNvSciSyncAttrSignal), waiter
 * (cudaNvSciSyncAttrWait) or both. */
cudaError_t cudaDeviceGetNvSciSyncAttributes(void *nvSciSyncAttrList, int device, int flags);

/* ---- Memory ------------------------------------------------------------------------------------ */

/* Device, managed and page-locked host memory. Size 0 gives NULL. cudaErrorMemoryAllocation when the
 * device is full. */
cudaError_t cudaMalloc(void **devPtr, size_t size);
cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocManaged(void **devPtr, size_t size,
                              unsigned int flags CUDLA_SIM_DEFAULT(cudaMemAttachGlobal));
cudaError_t cudaMallocHost(void **ptr, size_t size);
cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags);
cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream);

/* NULL is accepted, and cudaFree(0) is the usual way to wake the device. The blocking ones first wait
 * for all work. cudaErrorInvalidValue for what was never allocated or is freed already. */
cudaError_t cudaFree(void *devPtr);
cudaError_t cudaFreeHost(void *ptr);
cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream);

/* Page-locks memory of the program. cudaErrorHostMemoryAlreadyRegistered,
 * cudaErrorHostMemoryNotRegistered. */
cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void *ptr);
cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags);
cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost);

cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr,
                                     size_t length CUDLA_SIM_DEFAULT(0),
                                     unsigned int flags CUDLA_SIM_DEFAULT(cudaMemAttachSingle));

/* ---- Arrays: elements by coordinates ----------------------------------------------------------- */

/* Bits of each channel, 0 of those that are not there. */
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f);

/* Width and height are elements. */
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                            size_t height CUDLA_SIM_DEFAULT(0),
                            unsigned int flags CUDLA_SIM_DEFAULT(0));
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);

/* Offsets and widths in an array are bytes and rows here. */
cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                size_t spitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                     size_t spitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind,
                                     cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height,
                                  enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                       size_t hOffset, size_t width, size_t height,
                                       enum cudaMemcpyKind kind,
                                       cudaStream_t stream CUDLA_SIM_DEFAULT(0));

/* ---- Textures ----------------------------------------------------------------------- */

/* Of 2D arrays and pitched memory. cudaErrorNotSupported: views, sRGB. */
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                                    const struct cudaResourceDesc *pResDesc,
                                    const struct cudaTextureDesc *pTexDesc,
                                    const struct cudaResourceViewDesc *pResViewDesc);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject);

/* ---- Copy and fill: sizes, widths and pitches are bytes ------------------------------------------ */

/* cudaErrorInvalidMemcpyDirection for a bad kind; cudaErrorInvalidValue when an address is outside its
 * allocation or on the wrong side; cudaErrorInvalidPitchValue. */
cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream CUDLA_SIM_DEFAULT(0));

/* Only the low byte of `value` counts. */
cudaError_t cudaMemset(void *devPtr, int value, size_t count);
cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count,
                            cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream CUDLA_SIM_DEFAULT(0));

/* ---- Streams ------------------------------------------------------------------------------------ */

cudaError_t cudaStreamCreate(cudaStream_t *pStream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority);

/* Returns at once; queued work still runs. */
cudaError_t cudaStreamDestroy(cudaStream_t stream);

/* Waits for a stream, or asks: cudaErrorNotReady while it is busy. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);

/* Makes later work of the stream wait for an event's latest record. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags CUDLA_SIM_DEFAULT(0));

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags);
cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority);

/* Calls a function of the program in stream order, on a thread of ours. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData);
/* syncMode: cudaHostTaskBlocking 0 or cudaHostTaskSpinWait 1; a hint. */
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags);

/* ---- Capture: work recorded into a graph instead of being done ------------------------------------ */

/* What follows in the stream is recorded until the capture ends; other streams join through events.
 * cudaErrorStreamCapture* for calls that a capture does not permit: they invalidate it. */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus);

/* A launch does all recorded work in the order of the stream. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                 unsigned long long flags CUDLA_SIM_DEFAULT(0));
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags CUDLA_SIM_DEFAULT(0));
cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

/* ---- Events ------------------------------------------------------------------------------------- */

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);

/* Marks a place in a stream; a new record replaces the old one. */
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream CUDLA_SIM_DEFAULT(0),
                                     unsigned int flags CUDLA_SIM_DEFAULT(0));

/* Waits for the place to be reached, or asks: cudaErrorNotReady. Never recorded counts as reached. */
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);

/* Milliseconds between two reached places. cudaErrorNotReady; cudaErrorInvalidResourceHandle also for
 * an event that was never recorded or has cudaEventDisableTiming. */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end);

/* ---- Memory and semaphores of other interfaces: NvSciBuf and NvSciSync ---------------------------- */

/* Takes part in an NvSciBufObj; a mapped buffer ends with cudaFree. */
cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *extMem_out,
                                     const struct cudaExternalMemoryHandleDesc *memHandleDesc);
cudaError_t cudaExternalMemoryGetMappedBuffer(
    void **devPtr, cudaExternalMemory_t extMem,
    const struct cudaExternalMemoryBufferDesc *bufferDesc);
cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t extMem);

/* Takes part in an NvSciSyncObj. A signal fills the fences and fires them in stream order; a wait
 * holds the stream. */
cudaError_t cudaImportExternalSemaphore(
    cudaExternalSemaphore_t *extSem_out,
    const struct cudaExternalSemaphoreHandleDesc *semHandleDesc);
cudaError_t cudaSignalExternalSemaphoresAsync_v2(
    const cudaExternalSemaphore_t *extSemArray,
    const struct cudaExternalSemaphoreSignalParams *paramsArray, unsigned int numExtSems,
    cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaWaitExternalSemaphoresAsync_v2(
    const cudaExternalSemaphore_t *extSemArray,
    const struct cudaExternalSemaphoreWaitParams *paramsArray, unsigned int numExtSems,
    cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t extSem);

/* ---- Symbols of earlier generations, seen only by the generator of our bindings ------------------- */

#if defined(CUDLA_SIM_PARSE) || defined(CUDLA_SIM_BUILD)
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);

cudaError_t cudaSignalExternalSemaphoresAsync(
    const cudaExternalSemaphore_t *extSemArray,
    const struct cudaExternalSemaphoreSignalParams_v1 *paramsArray, unsigned int numExtSems,
    cudaStream_t stream);
cudaError_t cudaWaitExternalSemaphoresAsync(
    const cudaExternalSemaphore_t *extSemArray,
    const struct cudaExternalSemaphoreWaitParams_v1 *paramsArray, unsigned int numExtSems,
    cudaStream_t stream);
#endif

#if defined(__cplusplus)
}
#endif

#include "crt/function_api.h"
#include "crt/symbol_api.h"

#endif /* __CUDA_RUNTIME_API_H__ */
