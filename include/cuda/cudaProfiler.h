/* SPDX-License-Identifier: Apache-2.0
 *
 * cudaProfiler.h - cuProfilerInitialize, cuProfilerStart, cuProfilerStop: cuda.h declares them.
 */
#ifndef __cuda_cuda_profiler_h__
#define __cuda_cuda_profiler_h__

#include "cuda.h"

#endif /* __cuda_cuda_profiler_h__ */
