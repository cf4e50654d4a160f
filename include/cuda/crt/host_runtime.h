/* SPDX-License-Identifier: Apache-2.0
 *
 * host_runtime.h - what the code that nvcc generates calls before main: it hands its fat binary to the
 * runtime, and names the kernels and variables in it.
 *
 * None of these needs the device, Python or an initialised runtime, and none of them fails. A kernel is
 * known by the address of its host stub, a variable by the address of its host shadow.
 */
#ifndef __CUDA_CRT_HOST_RUNTIME_H__
#define __CUDA_CRT_HOST_RUNTIME_H__

#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Takes in a fat binary (`fatCubin` is its wrapper) and answers its handle; End follows when all that is
 * in it is named. Unregister forgets the binary and everything that was named under its handle. */
void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
void __cudaUnregisterFatBinary(void **fatCubinHandle);

/* Names a kernel. `thread_limit` is -1, or the most threads a block may have; `tid`, `bid`, `bDim` and
 * `gDim` point to a uint3 or dim3 each or are NULL, `wSize` is NULL. */
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, void *tid, void *bid,
                            void *bDim, void *gDim, int *wSize);

/* Names a variable of `size` bytes: __device__, or __constant__. */
void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                       const char *deviceName, int ext, size_t size, int constant, int global);

/* The same for __managed__; `*hostVarPtrAddress` is the pointer through which the host reads it. */
void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant,
                              int global);

/* Called before the first use of a __managed__ variable. Answers 1 for a handle that is registered. */
char __cudaInitModule(void **fatCubinHandle);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDA_CRT_HOST_RUNTIME_H__ */
