/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_awbarrier.h - the barrier of CUDA 11.0 that cuda::barrier followed.
 */
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include "cuda_awbarrier_primitives.h"

#if defined(__CUDACC__) && !defined(CUDLA_SIM_PARSE)

namespace nvcuda {
namespace experimental {

class pipeline;

class awbarrier {
  public:
    class arrival_token {
      public:
        arrival_token() = default;
        uint32_t pending_count() const { return __mbarrier_token_pending_count(token_); }

      private:
        friend class awbarrier;
        explicit arrival_token(__mbarrier_token_t token) : token_(token) {}
        __mbarrier_token_t token_;
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    arrival_token arrive() { return arrival_token(__mbarrier_arrive(&barrier_)); }
    arrival_token arrive_and_drop() { return arrival_token(__mbarrier_arrive_and_drop(&barrier_)); }
    void wait(arrival_token token) { __mbarrier_test_wait(&barrier_, token.token_); }
    void arrive_and_wait() { wait(arrive()); }
    bool timed_wait(arrival_token token, uint32_t) { return __mbarrier_test_wait(&barrier_, token.token_); }
    bool timed_wait_parity(bool parity, uint32_t) { return __mbarrier_test_wait_parity(&barrier_, parity); }
    bool try_wait(arrival_token token, uint32_t) { return __mbarrier_test_wait(&barrier_, token.token_); }
    bool try_wait_parity(bool parity, uint32_t) { return __mbarrier_test_wait_parity(&barrier_, parity); }
    static constexpr uint32_t max() { return (1u << 20) - 1; }

  private:
    friend void init(awbarrier *barrier, uint32_t expected_count) {
        __mbarrier_init(&barrier->barrier_, expected_count);
    }
    friend void inval(awbarrier *barrier) { __mbarrier_inval(&barrier->barrier_); }
    __mbarrier_t barrier_;
};

} // namespace experimental
} // namespace nvcuda

#endif /* __CUDACC__ */

#endif /* _CUDA_AWBARRIER_H_ */
