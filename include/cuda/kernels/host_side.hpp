/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/host_side.hpp - behind these headers where a file is read as its host code
 * (cudla_sim/cuda_kernels/sides.py).
 */
#undef __CUDA_ARCH__
