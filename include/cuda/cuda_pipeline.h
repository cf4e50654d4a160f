/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_pipeline.h - the primitives, and the pipeline of CUDA 11.0 that cuda::pipeline followed.
 */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include <string.h>

#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

#if defined(__CUDACC__) && !defined(CUDLA_SIM_PARSE)

namespace nvcuda {
namespace experimental {

class pipeline {
  public:
    pipeline() = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;

    size_t commit() { return committed_++; }
    void commit_and_wait() { commit(); }
    void wait(size_t) {}
    template <unsigned N> void wait_prior() {}
    template <class Barrier> void arrive_on(Barrier &) {}

  private:
    size_t committed_ = 0;
};

template <class T> void memcpy_async(T &to, const T &from, pipeline &) { to = from; }
template <class T, size_t To, size_t From>
void memcpy_async(T (*to)[To], const T (*from)[From], pipeline &) {
    static_assert(sizeof *to == 4 || sizeof *to == 8 || sizeof *to == 16, "4, 8 or 16 bytes are copied");
    static_assert(From <= To, "more is read than there is room for");
    for (size_t i = 0; i < To; i++)
        (*to)[i] = i < From ? (*from)[i] : T();
}
template <size_t N, class T> auto segment(T *at) -> T (*)[N] { return (T(*)[N])at; }

} // namespace experimental
} // namespace nvcuda

#endif /* __CUDACC__ */

#endif /* _CUDA_PIPELINE_H_ */
