/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/reserved.hpp - behind kernels.hpp in every .cu file: g++ forgets with a precompiled header which
 * registers it reserved, and does it for the whole file at any such declaration.
 */
#pragma GCC system_header /* where nothing was precompiled the register has two names: no warning */
#if defined(CUDLA_SIM_THREAD_X)
register unsigned long cudla_sim_reserved asm(CUDLA_SIM_THREAD_X);
#endif
