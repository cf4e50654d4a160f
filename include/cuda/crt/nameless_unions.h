/* SPDX-License-Identifier: Apache-2.0
 *
 * nameless_unions.h - unions without a name, which C99 does not have.
 */
#ifndef __CUDA_CRT_NAMELESS_UNIONS_H__
#define __CUDA_CRT_NAMELESS_UNIONS_H__

#if defined(__GNUC__) && !defined(CUDLA_SIM_PARSE)
#define CUDLA_SIM_NAMELESS __extension__
#else
#define CUDLA_SIM_NAMELESS
#endif

#endif /* __CUDA_CRT_NAMELESS_UNIONS_H__ */
