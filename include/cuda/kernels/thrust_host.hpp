/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/thrust_host.hpp - what Thrust's algorithms on the host are told: their memory is the device's, and what
 * was launched before them has ended, as in a stream.
 */
#ifndef CUDLA_SIM_KERNELS_THRUST_HOST_H
#define CUDLA_SIM_KERNELS_THRUST_HOST_H

#include <cstdlib>
#include <new>

#include "engine.hpp"

namespace cudla_sim {

/* Lives as long as an algorithm; those that it calls itself do not wait again. */
class Ordered {
  public:
    Ordered() {
        if (!block && depth_++ == 0)
            cudaDeviceSynchronize();
    }
    ~Ordered() {
        if (!block)
            depth_--;
    }
    Ordered(const Ordered &) = delete;
    Ordered &operator=(const Ordered &) = delete;

  private:
    static inline thread_local unsigned depth_ = 0;
};

inline void *thrust_malloc(size_t size) {
    if (block)
        return malloc(size);
    void *made = nullptr;
    return cudaMalloc(&made, size ? size : 1) == cudaSuccess ? made : nullptr;
}

inline void thrust_free(void *memory) {
    if (block)
        free(memory);
    else
        cudaFree(memory);
}

/* The operators of a memory resource, aligned or not. */
template <class... Aligned> inline void *thrust_new(size_t size, Aligned...) {
    if (void *made = thrust_malloc(size))
        return made;
    throw std::bad_alloc();
}

template <class... Aligned> inline void thrust_delete(void *memory, Aligned...) { thrust_free(memory); }

} // namespace cudla_sim

#endif
