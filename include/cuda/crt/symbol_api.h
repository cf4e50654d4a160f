/* SPDX-License-Identifier: Apache-2.0
 *
 * crt/symbol_api.h - variables of device code, named by what stands for them in the program: its __device__,
 * __constant__ and __managed__ variables.
 *
 * Read by cuda_runtime_api.h. C++ has these functions with the variable itself as well (cuda_runtime.h of a
 * program with kernels). cudaErrorInvalidSymbol for what is no such variable, cudaErrorInvalidMemcpyDirection for
 * a kind that does not lead into it or out of it.
 */
#ifndef __CUDA_CRT_SYMBOL_API_H__
#define __CUDA_CRT_SYMBOL_API_H__

#include "../driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count,
                               size_t offset CUDLA_SIM_DEFAULT(0),
                               enum cudaMemcpyKind kind CUDLA_SIM_DEFAULT(cudaMemcpyHostToDevice));
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset CUDLA_SIM_DEFAULT(0),
                                 enum cudaMemcpyKind kind CUDLA_SIM_DEFAULT(cudaMemcpyDeviceToHost));
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream CUDLA_SIM_DEFAULT(0));
cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);

/* The kernel as cuLaunchKernel takes it. */
typedef struct CUfunc_st *cudaFunction_t;

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_SYMBOL_API_H__ */
