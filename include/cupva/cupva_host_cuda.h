/*
 * cupva_host_cuda.h - PVA commands in CUDA streams, CUDA memory for the PVA.
 *
 * PVA commands begin when all that was put into the CUDA stream before them has ended, and what is
 * put there later waits for them.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CUDA_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CUDA_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#include "detail/scheduling/cupva_host_mem_alloc.h"
#include "detail/scheduling/cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device pointer of the PVA for memory of cudaMalloc; CupvaMemFree gives it up. */
DLL_EXPORT cupvaError_t CupvaCudaMemImport(void **const devPtr, void *const cudaDevPtr,
                                           int64_t const size,
                                           cupvaMemAccessType_t const accessType);

/* A PVA stream whose work lies in a CUDA stream. That must be a non-blocking one. */
DLL_EXPORT cupvaError_t CupvaCudaCreateStream(cupvaStream_t *const stream,
                                              cudaStream_t const cudaStream,
                                              cupvaEngineType_t const absEngine,
                                              cupvaAffinityType_t const vpuAffinity);
DLL_EXPORT cupvaError_t CupvaCudaContextSupportsCuda(cupvaContext_t const ctx, bool *const cudaFlag);

/* From now on the other functions of this file answer CUPVA_CUDA_DISABLED. */
DLL_EXPORT cupvaError_t CupvaCudaForceDisableSupport(void);

DLL_EXPORT cupvaError_t CupvaCudaStreamSubmit(cudaStream_t const cudaStream,
                                              cupvaCmd_t const *const *const command,
                                              cupvaCmdStatus_t *const status, int32_t const count,
                                              cupvaOrderType_t const order,
                                              int32_t const executionTimeout,
                                              int32_t const submitTimeout);
DLL_EXPORT cupvaError_t CupvaCudaStreamSubmitCmdBuffer(cudaStream_t const cudaStream,
                                                       cupvaCmdBuffer_t const cmdBuffer,
                                                       int32_t const executionTimeout,
                                                       int32_t const submitTimeout);

/* The VPU of what is submitted to a CUDA stream; at first any. */
DLL_EXPORT cupvaError_t CupvaCudaStreamSetAffinity(cudaStream_t const cudaStream,
                                                   cupvaAffinityType_t const vpuAffinity);
DLL_EXPORT cupvaError_t CupvaCudaStreamSetName(cudaStream_t const cudaStream, char const *const name);

#ifdef __cplusplus
}
#endif

#endif
