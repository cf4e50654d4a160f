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
#endif

#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDART_CB
#define CUDART_CB
#endif

#endif /* __HOST_DEFINES_H__ */
