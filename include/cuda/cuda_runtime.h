/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_runtime.h - the CUDA runtime subset, with typed allocation functions for C++.
 */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#if defined(__cplusplus)
/* A .cu file gets these from its compiler without asking; it shall compile as plain C++ too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>
#endif

#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "library_types.h"
#include "vector_functions.h"

#if defined(__cplusplus)

template <class T> inline cudaError_t cudaMalloc(T **devPtr, size_t size) {
    return ::cudaMalloc((void **)(void *)devPtr, size);
}

template <class T>
inline cudaError_t cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height) {
    return ::cudaMallocPitch((void **)(void *)devPtr, pitch, width, height);
}

template <class T>
inline cudaError_t cudaMallocManaged(T **devPtr, size_t size,
                                     unsigned int flags = cudaMemAttachGlobal) {
    return ::cudaMallocManaged((void **)(void *)devPtr, size, flags);
}

template <class T> inline cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags) {
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}

inline cudaError_t cudaMallocHost(void **ptr, size_t size, unsigned int flags) {
    return ::cudaHostAlloc(ptr, size, flags);
}

template <class T>
inline cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0) {
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}

template <class T>
inline cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream) {
    return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}

template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool,
                                           cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}

template <class T>
inline cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t memPool,
                                   cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}

/* CUDA 13's forms. */
inline cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, cudaMemLocation location,
                                        unsigned int flags, cudaStream_t stream = nullptr) {
    return ::cudaMemPrefetchAsync_v2(devPtr, count, location, flags, stream);
}

inline cudaError_t cudaMemAdvise(const void *devPtr, size_t count, cudaMemoryAdvise advice,
                                 cudaMemLocation location) {
    return ::cudaMemAdvise_v2(devPtr, count, advice, location);
}

template <class T>
inline cudaError_t cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags) {
    return ::cudaHostGetDevicePointer(reinterpret_cast<void **>(pDevice), pHost, flags);
}

template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *devPtr, size_t length = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
    return ::cudaStreamAttachMemAsync(
        stream, static_cast<void *>(const_cast<typename std::remove_cv<T>::type *>(devPtr)), length,
        flags);
}

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
    return ::cudaEventCreateWithFlags(event, flags);
}

/* The form with an error node, from before CUDA 12. */
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                        cudaGraphNode_t *pErrorNode, char *pLogBuffer,
                                        size_t bufferSize) {
    (void)pErrorNode;
    (void)pLogBuffer;
    (void)bufferSize;
    return ::cudaGraphInstantiate(pGraphExec, graph, 0);
}

#if __cplusplus >= 201703L
/* Arguments become the kernel's parameters, as in <<<...>>>. */
template <class... P, class... A>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                                      A &&...args) {
    return [&](typename std::decay<P>::type... given) {
        void *places[] = {(void *)&given..., nullptr};
        return ::cudaLaunchKernelExC(config, (const void *)kernel, places);
    }(std::forward<A>(args)...);
}
#endif

/* CUDA 13's forms with edges, and what came before them. */
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies,
                                    const cudaGraphEdgeData *dependencyData,
                                    size_t numDependencies, cudaGraphNodeParams *nodeParams) {
    return ::cudaGraphAddNode_v2(pGraphNode, graph, pDependencies, dependencyData, numDependencies,
                                 nodeParams);
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *edgeData,
                                            size_t numDependencies) {
    (void)edgeData;
    return ::cudaGraphAddDependencies(graph, from, to, numDependencies);
}

inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                               cudaStreamCaptureStatus *captureStatus_out,
                                               unsigned long long *id_out, cudaGraph_t *graph_out,
                                               const cudaGraphNode_t **dependencies_out,
                                               const cudaGraphEdgeData **edgeData_out,
                                               size_t *numDependencies_out) {
    return ::cudaStreamGetCaptureInfo_v3(stream, captureStatus_out, id_out, graph_out,
                                         dependencies_out, edgeData_out, numDependencies_out);
}

inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                       cudaGraphNode_t *dependencies,
                                                       const cudaGraphEdgeData *dependencyData,
                                                       size_t numDependencies,
                                                       unsigned int flags) {
    return ::cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, dependencyData,
                                                    numDependencies, flags);
}

inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                       cudaGraphNode_t *hErrorNode_out,
                                       cudaGraphExecUpdateResult *updateResult_out) {
    cudaGraphExecUpdateResultInfo info = {};
    cudaError_t error = ::cudaGraphExecUpdate(hGraphExec, hGraph, &info);
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return error;
}

#endif /* __cplusplus */

#endif /* __CUDA_RUNTIME_H__ */
