/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/reserved.hpp - behind kernels.hpp in every .cu file, as text.
 *
 * g++ forgets with a precompiled header which registers it reserved, and does it for the whole file at any such
 * declaration. Words for where code and variables are stay for the rewriter, which makes attributes of them
 * (cudla_sim/cuda_kernels/linkage.py).
 */
#pragma GCC system_header /* where nothing was precompiled the register has two names: no warning */
#if defined(CUDLA_SIM_THREAD_X)
register unsigned long cudla_sim_reserved asm(CUDLA_SIM_THREAD_X);
#endif
#undef __device__
#undef __host__
#undef __constant__
#undef __managed__
#define __device__ __device__
#define __host__ __host__
#define __constant__ __constant__
#define __managed__ __managed__
