/* SPDX-License-Identifier: Apache-2.0
 *
 * ipc_api.h - memory and events that several processes share; part of cuda_runtime_api.h.
 */
#ifndef __CUDA_CRT_IPC_API_H__
#define __CUDA_CRT_IPC_API_H__

#include "../driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define CUDA_IPC_HANDLE_SIZE 64

/* A program copies these into another process, which must be of the same user. */
typedef struct cudaIpcMemHandle_st {
    char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcMemHandle_t;

typedef struct cudaIpcEventHandle_st {
    char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcEventHandle_t;

struct cudaMemPoolPtrExportData {
    unsigned char reserved[64];
};

#define cudaIpcMemLazyEnablePeerAccess 0x01

/* Memory of cudaMalloc. It lasts as long as one of the processes has it. cudaErrorInvalidResourceHandle for a
 * handle that is none, or whose process freed the memory or has ended before it was opened. */
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void *devPtr);

/* Events with cudaEventInterprocess. */
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);

/* Pools with cudaMemHandleTypePosixFileDescriptor: `shareableHandle` points to an int on the way out, and is
 * that int on the way in. Of an imported pool nothing is allocated (cudaErrorInvalidValue); its memory comes
 * by cudaMemPoolImportPointer and ends by cudaFree or cudaFreeAsync. */
cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                               enum cudaMemAllocationHandleType handleType,
                                               unsigned int flags);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                 enum cudaMemAllocationHandleType handleType,
                                                 unsigned int flags);
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr);
cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool,
                                     struct cudaMemPoolPtrExportData *exportData);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_IPC_API_H__ */
