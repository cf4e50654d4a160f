/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/thrust_cuda.hpp - read before a source whose Thrust needs CUDA's headers.
 */
#undef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CUDA
