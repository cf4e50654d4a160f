/* Nodes of graphs that are made by hand: a launch that is kept instead of put into a stream. */
#include "internal.h"
#include "library/cuda/launches.h"

static int by_driver(const struct cudaKernelNodeParams *params, int cooperative)
{
    const struct dim3 *grid = &params->gridDim, *block = &params->blockDim;
    CUfunction function = (CUfunction)params->func;
    if (cooperative && params->kernelParams != NULL) {
        return (int)sim__cuLaunchCooperativeKernel(function, grid->x, grid->y, grid->z, block->x, block->y,
                                                   block->z, params->sharedMemBytes, NULL,
                                                   params->kernelParams);
    }
    return (int)sim__cuLaunchKernel(function, grid->x, grid->y, grid->z, block->x, block->y, block->z,
                                    params->sharedMemBytes, NULL, params->kernelParams, params->extra);
}

static int by_runtime(const struct cudaKernelNodeParams *params, int cooperative)
{
    if (cooperative) {
        return (int)sim__cudaLaunchCooperativeKernel(params->func, params->gridDim, params->blockDim,
                                                     params->kernelParams, params->sharedMemBytes, NULL);
    }
    return (int)sim__cudaLaunchKernel(params->func, params->gridDim, params->blockDim, params->kernelParams,
                                      params->sharedMemBytes, NULL);
}

void *sim_cuda_node(const struct cudaKernelNodeParams *params, int driver, int cooperative, int *error)
{
    int packed = params->kernelParams == NULL && params->extra != NULL;
    sim_cuda_collect();
    *error = driver || packed ? by_driver(params, cooperative) : by_runtime(params, cooperative);
    return sim_cuda_collected();
}
