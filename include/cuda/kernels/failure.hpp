/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/failure.hpp - why a launch failed: the first thread that did says so.
 */
#ifndef CUDLA_SIM_KERNELS_FAILURE_H
#define CUDLA_SIM_KERNELS_FAILURE_H

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace cudla_sim {

/* The first division by zero of a launch: it goes on, as on a GPU, and is told. */
struct Division {
    std::atomic<int> happened{0};
    uint3 block{0, 0, 0}, thread{0, 0, 0};
    uintptr_t at = 0;
};

struct Failure {
    Division division;
    std::atomic<int> happened{0};
    cudaError_t error = cudaSuccess;
    char what[320] = "";
    uint3 block{0, 0, 0}, thread{0, 0, 0};
    uintptr_t at = 0; /* the instruction, where a signal told it */

    /* True for the first: it alone writes the rest. */
    bool claim() { return happened.exchange(1) == 0; }
    explicit operator bool() const { return happened.load(std::memory_order_relaxed) != 0; }
};

} // namespace cudla_sim

#endif
