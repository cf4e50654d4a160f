/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/once.hpp - what of the engine is compiled once instead of in each object file.
 *
 * Its functions are in headers of their own (whole.hpp names them), which are not read where CUDLA_SIM_APART is
 * defined: the object gets them from engine.cpp's, which was compiled with the same options and is joined to it
 * (cuda_kernels/precompiled.py). That one defines CUDLA_SIM_WHOLE, and has them although nobody calls them there.
 */
#ifndef CUDLA_SIM_KERNELS_ONCE_H
#define CUDLA_SIM_KERNELS_ONCE_H

#if defined(CUDLA_SIM_APART)
#define CUDLA_SIM_ONCE
#elif defined(CUDLA_SIM_WHOLE)
#define CUDLA_SIM_ONCE __attribute__((used)) inline
#else
#define CUDLA_SIM_ONCE inline
#endif

#endif
