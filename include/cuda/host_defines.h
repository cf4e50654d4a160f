/* SPDX-License-Identifier: Apache-2.0
 *
 * host_defines.h - the words that mark code for host or device.
 *
 * There is no device compiler here. The words vanish, so that a .cu file without kernel launches is
 * ordinary C++ (g++ -x c++).
 */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#if !defined(__CUDACC__)
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __shared__
#define __shared__
#endif
#ifndef __constant__
#define __constant__
#endif
#ifndef __managed__
#define __managed__
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

#if !defined(CUDLA_SIM_PARSE)
/* NVIDIA's headers have these for any compiler of the host, and libraries use them there. */
#ifndef __align__
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif
#ifndef __builtin_align__
#define __builtin_align__(bytes) __align__(bytes)
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#ifndef __no_return__
#define __no_return__ __attribute__((noreturn))
#endif
#endif
#endif

#ifndef __cudart_builtin__
#define __cudart_builtin__
#endif
#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDARTAPI_CDECL
#define CUDARTAPI_CDECL
#endif
#ifndef CUDART_CB
#define CUDART_CB
#endif

#endif /* __HOST_DEFINES_H__ */
