/* SPDX-License-Identifier: Apache-2.0
 *
 * log_api.h - why calls failed, as the driver keeps it (driver_logs.h); part of cuda_runtime_api.h.
 */
#ifndef __CUDA_CRT_LOG_API_H__
#define __CUDA_CRT_LOG_API_H__

#include "../driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef unsigned int cudaLogIterator;
typedef struct CUlogsCallbackEntry_st *cudaLogsCallbackHandle;

typedef enum cudaLogLevel {
    cudaLogLevelError = 0,
    cudaLogLevelWarning = 1
} cudaLogLevel;

typedef void (*cudaLogsCallback_t)(void *data, cudaLogLevel logLevel, char *message, size_t length);

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void *userData,
                                     cudaLogsCallbackHandle *callback_out);
cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback);
cudaError_t cudaLogsCurrent(cudaLogIterator *iterator_out, unsigned int flags);
cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *pathToFile, unsigned int flags);
cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size, unsigned int flags);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_LOG_API_H__ */
