/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_awbarrier_primitives.h - functions for counted arrivals in shared memory (CUDA C++ Programming Guide,
 * "Memory Barrier Primitives Interface").
 */
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include <stdint.h>

#if defined(__CUDACC__) && !defined(CUDLA_SIM_PARSE)

#include "kernels/ptx_lanes.hpp"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

namespace cudla_sim {
inline uintptr_t mbarrier_place(const __mbarrier_t *barrier) { return reinterpret_cast<uintptr_t>(barrier); }
} // namespace cudla_sim

inline uint32_t __mbarrier_maximum_count() { return (1u << 20) - 1; }
inline void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected_count) {
    cudla_sim::ptx_mbarrier(cudla_sim::mbarrier_place(barrier)).start(expected_count);
}
inline void __mbarrier_inval(__mbarrier_t *) {}
inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) {
    return cudla_sim::ptx_mbarrier_arrive(cudla_sim::mbarrier_place(barrier), 1, 0);
}
inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier) {
    return cudla_sim::ptx_mbarrier_arrive(cudla_sim::mbarrier_place(barrier), 1, 1);
}
inline uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
    return cudla_sim::ptx_mbarrier_pending(token);
}
/* A thread that asks whether a phase is over waits until it is. */
inline bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token) {
    return cudla_sim::ptx_mbarrier_wait(cudla_sim::mbarrier_place(barrier), token);
}
inline bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool parity) {
    return cudla_sim::ptx_mbarrier_parity(cudla_sim::mbarrier_place(barrier), parity);
}
inline bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token, uint32_t) {
    return __mbarrier_test_wait(barrier, token);
}
inline bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool parity, uint32_t) {
    return __mbarrier_test_wait_parity(barrier, parity);
}

#endif /* __CUDACC__ */

#endif /* _CUDA_AWBARRIER_PRIMITIVES_H_ */
