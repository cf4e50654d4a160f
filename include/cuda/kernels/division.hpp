/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/division.hpp - an integer divided by zero: nothing stops a GPU, a quotient and a remainder have all bits.
 *
 * Seen on GPUs: of 64 bits a dividend below 2^32 is divided as one of 32 bits, so the upper half is zero then
 * (PyTorch's tests of integer division and remainder by zero have both values).
 */
#ifndef CUDLA_SIM_KERNELS_DIVISION_H
#define CUDLA_SIM_KERNELS_DIVISION_H

#include <cstdint>

namespace cudla_sim {

/* Of an operation on `bits` bits, and its upper bits all set. */
constexpr uint64_t by_zero(uint64_t dividend, unsigned bits) {
    return bits == 64 && dividend >> 32 == 0 ? 0xffffffffu : ~uint64_t{0};
}

} // namespace cudla_sim

#endif
