/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_pipeline_primitives.h - functions for copies into shared memory that are waited for later (CUDA C++
 * Programming Guide, "Pipeline Primitives Interface"). A copy is made where it is asked for.
 */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include <stddef.h>

#include "cuda_awbarrier_primitives.h"

#if defined(__CUDACC__) && !defined(CUDLA_SIM_PARSE)

#include "kernels/failure.hpp"
#include "kernels/ptx_memory.hpp"

/* 4, 8 or 16 bytes, of which the last zfill are zeros instead; both addresses are multiples of the size. */
inline void __pipeline_memcpy_async(void *dst_shared, const void *src_global, size_t size_and_align,
                                    size_t zfill = 0) {
    const uintptr_t to = reinterpret_cast<uintptr_t>(dst_shared), from = reinterpret_cast<uintptr_t>(src_global);
    if ((size_and_align != 4 && size_and_align != 8 && size_and_align != 16) || zfill > size_and_align ||
        (to | from) % size_and_align)
        __trap();
    cudla_sim::ptx_copy(to, from, static_cast<uint32_t>(size_and_align),
                        static_cast<uint32_t>(size_and_align - zfill));
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
/* The copies before it have been made, so they make nobody wait. */
inline void __pipeline_arrive_on(__mbarrier_t *) {}

#endif /* __CUDACC__ */

#endif /* _CUDA_PIPELINE_PRIMITIVES_H_ */
