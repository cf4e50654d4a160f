/* SPDX-License-Identifier: Apache-2.0
 *
 * nvtx3/nvToolsExtCuda.h - names of the driver's objects for a profiler that is not there.
 */
#ifndef CUDLA_SIM_NVTOOLSEXT_CUDA_H
#define CUDLA_SIM_NVTOOLSEXT_CUDA_H

#include "nvToolsExt.h"

#if !defined(CUDLA_SIM_PARSE)

#include "../cuda.h"

CUDLA_SIM_NVTX void nvtxNameCuDeviceA(CUdevice device, const char *name) {
    (void)device, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCuDeviceW(CUdevice device, const wchar_t *name) {
    (void)device, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCuContextA(CUcontext context, const char *name) {
    (void)context, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCuContextW(CUcontext context, const wchar_t *name) {
    (void)context, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCuStreamA(CUstream stream, const char *name) {
    (void)stream, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCuStreamW(CUstream stream, const wchar_t *name) {
    (void)stream, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCuEventA(CUevent event, const char *name) {
    (void)event, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCuEventW(CUevent event, const wchar_t *name) {
    (void)event, (void)name;
}

#endif /* !CUDLA_SIM_PARSE */

#endif
