/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_device_runtime_api.h - the runtime in kernels, which is the host's here.
 */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#endif /* __CUDA_DEVICE_RUNTIME_API_H__ */
