/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_contexts.h - what contexts and devices are set to by the driver's names; part of cuda.h.
 *
 * There is one device and one context, which the runtime uses too: these set what cudaDeviceSet... set.
 */
#ifndef __CUDA_CRT_DRIVER_CONTEXTS_H__
#define __CUDA_CRT_DRIVER_CONTEXTS_H__

typedef enum CUlimit_enum {
    CU_LIMIT_STACK_SIZE = 0,
    CU_LIMIT_PRINTF_FIFO_SIZE = 1,
    CU_LIMIT_MALLOC_HEAP_SIZE = 2,
    CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,
    CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
    CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
    CU_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,
    CU_LIMIT_SHMEM_SIZE = 7,
    CU_LIMIT_CIG_ENABLED = 8,
    CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED = 9,
    CU_LIMIT_MAX = 10
} CUlimit;

#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags);
/* As cudaDeviceReset: everything that the context has is gone. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev);

/* ctx NULL: the current one. */
CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version);
CUresult cuCtxGetFlags(unsigned int *flags);
CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit);
/* Either may be NULL. */
CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority);

#endif /* __CUDA_CRT_DRIVER_CONTEXTS_H__ */
