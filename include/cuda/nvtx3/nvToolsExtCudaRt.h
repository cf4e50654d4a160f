/* SPDX-License-Identifier: Apache-2.0
 *
 * nvtx3/nvToolsExtCudaRt.h - names of the runtime's objects for a profiler that is not there.
 */
#ifndef CUDLA_SIM_NVTOOLSEXT_CUDART_H
#define CUDLA_SIM_NVTOOLSEXT_CUDART_H

#include "nvToolsExt.h"

#if !defined(CUDLA_SIM_PARSE)

#include "../cuda_runtime_api.h"

CUDLA_SIM_NVTX void nvtxNameCudaDeviceA(int device, const char *name) {
    (void)device, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCudaDeviceW(int device, const wchar_t *name) {
    (void)device, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCudaStreamA(cudaStream_t stream, const char *name) {
    (void)stream, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t *name) {
    (void)stream, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCudaEventA(cudaEvent_t event, const char *name) {
    (void)event, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCudaEventW(cudaEvent_t event, const wchar_t *name) {
    (void)event, (void)name;
}

#endif /* !CUDLA_SIM_PARSE */

#endif
