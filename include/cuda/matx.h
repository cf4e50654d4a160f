/* SPDX-License-Identifier: Apache-2.0
 *
 * matx.h - the part of MatX that cuDLA applications use: tensors over memory that the caller has, their
 * permutation, and a copy on a stream.
 *
 * For code that `cudla-sim nvcc` compiles; other compilers see nothing. MatX itself needs libcu++ and the headers of three more libraries. What is not here does not compile.
 * Source of names and meaning: MatX's documentation, "Tensor views", "Creation functions", "copy".
 */
#ifndef CUDLA_SIM_MATX_H
#define CUDLA_SIM_MATX_H

#if !defined(CUDLA_SIM_PARSE)
#if defined(__CUDACC__)

#include <cstdint>
#include <stdexcept>
#include <string>

#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace matx {

using index_t = long long;
using matxFp16 = __half;

/* A view: sizes and strides in elements, the last dimension changes fastest. It owns nothing. */
template <typename T, int RANK> class tensor_t {
  public:
    using value_type = T;
    using scalar_type = T;

    __host__ __device__ tensor_t(T *data, const index_t (&shape)[RANK]) : data_(data) {
        index_t stride = 1;
        for (int d = RANK - 1; d >= 0; d--) {
            sizes_[d] = shape[d];
            strides_[d] = stride;
            stride *= shape[d];
        }
    }
    __host__ __device__ tensor_t(T *data, const index_t (&shape)[RANK], const index_t (&strides)[RANK])
        : data_(data) {
        for (int d = 0; d < RANK; d++) {
            sizes_[d] = shape[d];
            strides_[d] = strides[d];
        }
    }

    static constexpr __host__ __device__ int Rank() { return RANK; }
    __host__ __device__ index_t Size(int dimension) const { return sizes_[dimension]; }
    __host__ __device__ index_t Stride(int dimension) const { return strides_[dimension]; }
    __host__ __device__ T *Data() const { return data_; }
    __host__ __device__ index_t TotalSize() const {
        index_t total = 1;
        for (int d = 0; d < RANK; d++)
            total *= sizes_[d];
        return total;
    }

    /* Dimension d of the result is dimension order[d] of this one. */
    __host__ __device__ tensor_t Permute(const int (&order)[RANK]) const {
        tensor_t result = *this;
        for (int d = 0; d < RANK; d++) {
            result.sizes_[d] = sizes_[order[d]];
            result.strides_[d] = strides_[order[d]];
        }
        return result;
    }

    template <typename... I> __host__ __device__ T &operator()(I... indices) const {
        static_assert(sizeof...(I) == RANK, "an index for each dimension");
        const index_t at[] = {static_cast<index_t>(indices)...};
        index_t offset = 0;
        for (int d = 0; d < RANK; d++)
            offset += at[d] * strides_[d];
        return data_[offset];
    }

  private:
    T *data_;
    index_t sizes_[RANK], strides_[RANK];
};

template <typename T, int RANK>
tensor_t<T, RANK> make_tensor(T *data, const index_t (&shape)[RANK], bool owning = false) {
    (void)owning;
    return tensor_t<T, RANK>(data, shape);
}

namespace detail {

/* A thread copies a run of the last dimension. */
template <typename T, int RANK>
__global__ void copy_runs(tensor_t<T, RANK> to, tensor_t<T, RANK> from, index_t runs) {
    index_t run = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (run >= runs)
        return;
    T *target = to.Data();
    const T *source = from.Data();
    for (int d = RANK - 2; d >= 0; d--) {
        index_t at = run % to.Size(d);
        run /= to.Size(d);
        target += at * to.Stride(d);
        source += at * from.Stride(d);
    }
    const index_t size = to.Size(RANK - 1), step = to.Stride(RANK - 1);
    const index_t source_step = from.Stride(RANK - 1);
    for (index_t i = 0; i < size; i++)
        target[i * step] = source[i * source_step];
}

} // namespace detail

/* Copies elements by their indices; the shapes have to be equal. */
template <typename T, int RANK>
void copy(tensor_t<T, RANK> &to, const tensor_t<T, RANK> &from, cudaStream_t stream = 0) {
    for (int d = 0; d < RANK; d++)
        if (to.Size(d) != from.Size(d))
            throw std::invalid_argument("matx::copy: dimension " + std::to_string(d) + " has "
                                        + std::to_string(from.Size(d)) + " elements, and "
                                        + std::to_string(to.Size(d)) + " where they go");
    const index_t total = to.TotalSize(), threads = 256;
    if (total == 0)
        return;
    const index_t runs = total / to.Size(RANK - 1);
    detail::copy_runs<T, RANK><<<static_cast<unsigned int>((runs + threads - 1) / threads),
                                 static_cast<unsigned int>(threads), 0, stream>>>(to, from, runs);
}

} // namespace matx

#endif /* __CUDACC__ */
#endif /* !CUDLA_SIM_PARSE */

#endif /* CUDLA_SIM_MATX_H */
