/* Launches of kernels on their way into a stream.
 *
 * A launch by way of Python costs as much as thirty kernels of a few threads. So the first one becomes an
 * item of its stream (a struct sim_launches), and those that follow join it here, as long as nothing else was
 * put into any stream meanwhile: Python closes it whenever it looks at one.
 */
#ifndef CUDLA_SIM_CUDA_LAUNCHES_H
#define CUDLA_SIM_CUDA_LAUNCHES_H

#include "cuda/cuda.h"
#include "cuda/cuda_runtime_api.h"
#include "cuda/crt/launches.h"

/* Until it is asked for, a launch of this thread is kept: an item, or NULL. */
void sim_cuda_collect(void);
void *sim_cuda_collected(void);

/* exported under their private names, which C here calls too */
cudaError_t sim__cudaLaunchKernel(const void *func, struct dim3 gridDim, struct dim3 blockDim,
                                  void **args, size_t sharedMem, cudaStream_t stream);
CUresult sim__cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                             unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                             unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra);
cudaError_t sim__cudaLaunchCooperativeKernel(const void *func, struct dim3 gridDim, struct dim3 blockDim,
                                             void **args, size_t sharedMem, cudaStream_t stream);
CUresult sim__cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                        void **kernelParams);
cudaError_t sim____cudlaSimLaunchOf(cudaStream_t stream, const char *kernel, void (*run)(void *),
                                    void (*drop)(void *), void (*tell)(void *, void *), void *data);
cudaError_t sim____cudlaSimRefuse(cudaError_t error, const char *explanation);

/* Of the wrapper whose first word is SIM_CUDA_MAGIC_OURS (include/cuda/kernels/launch.hpp). */
struct sim_cuda_wrapper {
    unsigned magic;
    unsigned version;
    cudaError_t (*launch)(const void *func, struct dim3 grid, struct dim3 block, void **arguments,
                          size_t shared, cudaStream_t stream, int cooperative);
    /* where the arguments lie in a buffer of all of them, and behind these their sizes where there is room for both; how
     * many there are, at most `room` told */
    size_t (*places)(const void *func, size_t *offsets, size_t room);
};

/* Whether a context is current in the calling thread (private_tables.c). */
int sim_cuda_has_current(void);

#endif
