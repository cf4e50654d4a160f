/* SPDX-License-Identifier: Apache-2.0
 *
 * launches.h - kernels put into streams: what the code that nvcc generates calls for
 * `kernel<<<...>>>(...)`, and what that of `cudla-sim nvcc` calls.
 */
#ifndef __CUDA_CRT_LAUNCHES_H__
#define __CUDA_CRT_LAUNCHES_H__

#include "../driver_types.h"
#include "../vector_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- By the address of a kernel ---------------------------------------------------------------
 */

/* `func` is the kernel as host code names it, args[i] points to its argument i. The arguments are
 * copied before the call returns. Errors:
 *   cudaErrorInvalidDeviceFunction    nothing is registered under that address
 *   cudaErrorNoKernelImageForDevice   NVIDIA's nvcc compiled it, so there is only code for a GPU
 *   cudaErrorInvalidConfiguration     a grid or block that no GPU of this kind takes
 *   cudaErrorInvalidValue             more shared memory than a block can have */
cudaError_t cudaLaunchKernel(const void *func, struct dim3 gridDim, struct dim3 blockDim,
                             void **args, size_t sharedMem, cudaStream_t stream);

/* The two halves of a launch by nvcc's code: the calling thread keeps the configuration, the stub
 * of the kernel takes it. Push returns 0, Pop cudaErrorMissingConfiguration when nothing was kept.
 */
unsigned int __cudaPushCallConfiguration(struct dim3 gridDim, struct dim3 blockDim,
                                         size_t sharedMem, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(struct dim3 *gridDim, struct dim3 *blockDim,
                                       size_t *sharedMem, void *stream);

/* Since CUDA 12.1: a stub asks once for its kernel and launches it by that. */
cudaError_t __cudaGetKernel(void **kernel, const void *func);
cudaError_t __cudaLaunchKernel(void *kernel, struct dim3 gridDim, struct dim3 blockDim, void **args,
                               size_t sharedMem, cudaStream_t stream);

/* ---- By code of `cudla-sim nvcc` --------------------------------------------------------------
 */

/* Runs run(data) in stream order, and drop(data) when it will not run again; a captured launch runs
 * once for each launch of its graph. When the call fails, drop is not called. `kernel` names the
 * launch in traces. */
cudaError_t __cudlaSimLaunch(cudaStream_t stream, const char *kernel, void (*run)(void *),
                             void (*drop)(void *), void *data);

/* The running launch failed: the context is ruined with `error`, as by an illegal access. */
void __cudlaSimFault(cudaError_t error, const char *explanation);

/* A launch that does not begin: explains, and sets the thread's last error. Returns `error`. */
cudaError_t __cudlaSimRefuse(cudaError_t error, const char *explanation);

/* A variable of device code is device memory from now on: copies and fills take its address. */
cudaError_t __cudlaSimVariable(void *address, size_t size);

/* Registers a kernel under its address, with the function that launches it. */
typedef cudaError_t (*cudlaSimLauncher)(struct dim3 gridDim, struct dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream);
void __cudlaSimKernel(const void *func, cudlaSimLauncher launch);

/* Bytes of dynamic shared memory that cudaFuncSetAttribute allowed a kernel; -1: it was not called.
 */
int __cudlaSimShared(const void *func);

/* A thread of a kernel that accesses memory which is not mapped, or divides by zero. */
struct cudlaSimTrap {
    int division; /* 0: memory, at `address` */
    void *address;
    void *stack;       /* the stack pointer at that time */
    void *go_on;       /* written by the function that takes it: where the thread continues, */
    void *go_on_stack; /* and on which stack */
};

/* From now on such signals go to `take`. It returns 1 when the thread continues as written, 0 when
 * the signal is not a kernel's and goes to the handler that was installed before. */
void __cudlaSimCatch(int (*take)(struct cudlaSimTrap *trap));

/* Gives the calling system thread a stack for signals, or frees the `one` it gave; a kernel's own
 * may be full. NULL when the thread has one already. */
void *__cudlaSimSignalStack(void *one);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_LAUNCHES_H__ */
