/* Nodes of graphs that are made by hand: a launch that is kept instead of put into a stream. */
#include "internal.h"
#include "library/cuda/launches.h"

void *sim_cuda_node(const struct cudaKernelNodeParams *params, int *error)
{
    sim_cuda_collect();
    *error = (int)sim__cudaLaunchKernel(params->func, params->gridDim, params->blockDim,
                                        params->kernelParams, params->sharedMemBytes, NULL);
    return sim_cuda_collected();
}
