/* Launches of kernels that `cudla-sim nvcc` compiled, on their way into a stream. */
#ifndef CUDLA_SIM_CUDA_LAUNCHES_H
#define CUDLA_SIM_CUDA_LAUNCHES_H

#include "cuda/cuda_runtime_api.h"
#include "cuda/crt/launches.h"

/* Exported under their private names, which C here calls too. */
cudaError_t sim____cudlaSimLaunch(cudaStream_t stream, const char *kernel, void (*run)(void *),
                                  void (*drop)(void *), void *data);
cudaError_t sim____cudlaSimRefuse(cudaError_t error, const char *explanation);

#endif
