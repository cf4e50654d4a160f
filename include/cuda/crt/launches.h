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

/* ---- By the address of a kernel --------------------------------------------------------------- */

/* `func` is the kernel as host code names it, args[i] points to its argument i. The arguments are
 * copied before the call returns. Errors:
 *   cudaErrorInvalidDeviceFunction    nothing is registered under that address
 *   cudaErrorNoKernelImageForDevice   there is only code for a GPU, no PTX (built by NVIDIA's nvcc)
 *   cudaErrorInvalidConfiguration     a grid or block that no GPU of this kind takes
 *   cudaErrorInvalidValue             more shared memory than a block can have */
cudaError_t cudaLaunchKernel(const void *func, struct dim3 gridDim, struct dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream);

/* The same for a kernel whose blocks wait for each other. */
cudaError_t cudaLaunchCooperativeKernel(const void *func, struct dim3 gridDim, struct dim3 blockDim,
                                        void **args, size_t sharedMem, cudaStream_t stream);

/* The two halves of a launch by nvcc's code: the calling thread keeps the configuration, the stub of
 * the kernel takes it. Push answers 0, Pop cudaErrorMissingConfiguration when nothing was kept. */
unsigned int __cudaPushCallConfiguration(struct dim3 gridDim, struct dim3 blockDim, size_t sharedMem,
                                         struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(struct dim3 *gridDim, struct dim3 *blockDim, size_t *sharedMem,
                                       void *stream);

/* Since CUDA 12.1: a stub asks once for its kernel and launches it by that. */
cudaError_t __cudaGetKernel(void **kernel, const void *func);
cudaError_t __cudaLaunchKernel(void *kernel, struct dim3 gridDim, struct dim3 blockDim, void **args,
                               size_t sharedMem, cudaStream_t stream);

/* ---- By functions of the program -------------------------------------------------------------- */

/* Runs run(data) when all work before it in the stream has ended, and drop(data) when it will not be
 * run again; in a stream that captures it becomes a node. When the call fails drop is not called.
 * `kernel` names it in traces. */
cudaError_t __cudlaSimLaunch(cudaStream_t stream, const char *kernel, void (*run)(void *),
                             void (*drop)(void *), void *data);

/* The same of a kernel that can be asked about: `tell` fills in a struct cudlaSimLaunched of the data. */
cudaError_t __cudlaSimLaunchOf(cudaStream_t stream, const char *kernel, void (*run)(void *),
                               void (*drop)(void *), void (*tell)(void *, void *), void *data);

#if !defined(CUDLA_SIM_PARSE)
/* What a launch is of; the arguments are those that it copied. */
struct cudlaSimLaunched {
    const void *func; /* NULL where the kernel has no address, as some templates */
    struct dim3 grid, block;
    size_t shared;
    int cooperative;
    void **arguments; /* given: room for that many */
    size_t room;
    size_t count; /* how many there are */
};
#endif

/* The running launch failed: the context is ruined with `error`, as by an illegal access. */
void __cudlaSimFault(cudaError_t error, const char *explanation);

/* The calling thread begins, or ends, to run blocks of a kernel. What it starts meanwhile has ended when the call
 * returns, so there waiting for the device is nothing. */
void __cudlaSimInKernel(int begins);

/* A variable of device code is memory of the device from now on: copies and fills take its address. */
cudaError_t __cudlaSimVariable(void *address, size_t size);

/* What the checks of device code go by: how each is set (two bits, in the order of the setting's names), and
 * the memory that kernels may touch, as pairs of a beginning and an end in order of address. At most `room`
 * words are written; the answer is how many there are. */
unsigned int __cudlaSimChecks(void);
size_t __cudlaSimRanges(void **bounds, size_t room);

/* Bytes of dynamic shared memory that a launch of a kernel may have: those that `allow` set last, else -1.
 * `allow` -1 asks. A kernel by its address; NULL is the most of all kernels. */
int __cudlaSimShared(const void *func, int allow);

#if !defined(CUDLA_SIM_PARSE)
/* A thread of a kernel that touches memory which is not there, or divides by zero. */
struct cudlaSimTrap {
    int division; /* 0: memory, at `address` */
    void *address;
    void *at;    /* the instruction */
    void *stack; /* the stack's pointer then */
    unsigned int x; /* the register that kernels may keep threadIdx.x in */
    /* written by who takes it: where the thread goes on, on which stack */
    void *go_on;
    void *go_on_stack;
    /* a division that is understood: of so many bits, else 0; and what the thread goes on with */
    unsigned int bits;
    int by_zero; /* 0: the quotient does not fit */
    unsigned long long dividend;
    unsigned long long quotient, remainder;
};
#endif

/* From now on such signals go to `take` with a struct cudlaSimTrap. Its answer: 0, those go to whom they went
 * before; 1, the thread goes on as told; 2, it goes on behind the division. The first one stays. */
void __cudlaSimCatch(int (*take)(void *trap));

/* Gives the calling system thread a stack for signals, or takes back the `one` it gave: that of a kernel may be
 * full. NULL when the thread has one of its own. */
void *__cudlaSimSignalStack(void *one);

/* The lines of an instruction by its debug information, "file:line" each, from the innermost inlined function
 * outwards. Answers the bytes of the text, 0 where nothing is known. */
size_t __cudlaSimLines(const void *at, char *text, size_t size);

/* The calling system thread's variables of the module that has the one at `inside`. */
void __cudlaSimThreadVariables(const void *inside, void **begin, void **end);

/* A launch that does not begin: explains, and sets the thread's last error. Answers `error`. */
cudaError_t __cudlaSimRefuse(cudaError_t error, const char *explanation);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_LAUNCHES_H__ */
