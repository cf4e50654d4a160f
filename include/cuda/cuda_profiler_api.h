/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_profiler_api.h - marks the part of a program that a profiler shall look at.
 */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include "driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Accepted and noted in the API log; nothing else. cudaSuccess. */
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_PROFILER_API_H__ */
