/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/matrices.hpp - mma.h: matrices of a warp (CUDA C++ Programming Guide, "Warp matrix functions").
 *
 * Which element lies in which lane is nobody's business but this file's, as on a GPU. Products of halves are
 * exact in float; sums are made in float (int, double) one after another, and a GPU's may be in another order.
 */
#ifndef CUDLA_SIM_KERNELS_MATRICES_H
#define CUDLA_SIM_KERNELS_MATRICES_H

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "builtins.hpp"
#include "ptx.hpp"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
} // namespace precision

namespace details {

/* What an element is stored as, and what it is in a sum. */
template <class T> struct Stored { typedef T type; };
template <> struct Stored<precision::tf32> { typedef float type; };

inline float number(float value) { return value; }
inline double number(double value) { return value; }
inline int number(int value) { return value; }
inline int number(signed char value) { return value; }
inline int number(unsigned char value) { return value; }
inline float number(__half value) { return __half2float(value); }
inline float number(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class To, class From> struct Rounded {
    static To of(From value) { return static_cast<To>(value); }
};
template <> struct Rounded<__half, float> {
    static __half of(float value) { return __float2half(value); }
};

/* Rows and columns of a matrix by what it is for. */
template <class Use, int M, int N, int K> struct Size;
template <int M, int N, int K> struct Size<matrix_a, M, N, K> {
    static constexpr int rows = M, columns = K;
};
template <int M, int N, int K> struct Size<matrix_b, M, N, K> {
    static constexpr int rows = K, columns = N;
};
template <int M, int N, int K> struct Size<accumulator, M, N, K> {
    static constexpr int rows = M, columns = N;
};

} // namespace details

/* Each lane has a row of elements: number i of lane l is element l * num_elements + i, row by row. */
template <class Use, int M, int N, int K, class T, class Layout = void> class fragment {
    typedef details::Size<Use, M, N, K> Size;

  public:
    typedef typename details::Stored<T>::type element_type;
    typedef element_type storage_element_type;
    static constexpr int rows = Size::rows, columns = Size::columns;
    static constexpr int num_elements = rows * columns / static_cast<int>(cudla_sim::WARP);
    static constexpr int num_storage_elements = num_elements;
    element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class Value>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout> &of, const Value &value) {
    for (auto &element : of.x)
        element = static_cast<typename fragment<Use, M, N, K, T, Layout>::element_type>(value);
}

namespace details {

template <class Fragment, class Do> inline void each(Fragment &of, unsigned ldm, bool by_rows, Do &&use) {
    int first = static_cast<int>(cudla_sim::lane()) * Fragment::num_elements;
    for (int i = 0; i < Fragment::num_elements; i++) {
        size_t row = static_cast<size_t>((first + i) / Fragment::columns);
        size_t column = static_cast<size_t>((first + i) % Fragment::columns);
        use(of.x[i], by_rows ? row * ldm + column : column * ldm + row);
    }
}

template <class T, class Fragment> inline void load(Fragment &to, const T *from, unsigned ldm, bool by_rows) {
    cudla_sim::lanes_barrier(~0u, "load_matrix_sync");
    each(to, ldm, by_rows, [&](auto &element, size_t at) { element = from[at]; });
}

} // namespace details

template <class Use, int M, int N, int K, class T, class Layout, class From>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &to, const From *from, unsigned ldm) {
    details::load(to, from, ldm, std::is_same<Layout, row_major>::value);
}
template <int M, int N, int K, class T, class From>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const From *from, unsigned ldm,
                             layout_t layout) {
    details::load(to, from, ldm, layout == mem_row_major);
}
template <int M, int N, int K, class T, class To>
inline void store_matrix_sync(To *to, const fragment<accumulator, M, N, K, T> &from, unsigned ldm,
                              layout_t layout) {
    details::each(from, ldm, layout == mem_row_major, [&](const auto &element, size_t at) { to[at] = element; });
    cudla_sim::lanes_barrier(~0u, "store_matrix_sync");
}

/* d = a * b + c */
template <int M, int N, int K, class D, class A, class LayoutA, class B, class LayoutB, class C>
inline void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, LayoutA> &a,
                     const fragment<matrix_b, M, N, K, B, LayoutB> &b, const fragment<accumulator, M, N, K, C> &c,
                     bool saturates = false) {
    typedef fragment<matrix_a, M, N, K, A, LayoutA> FragmentA;
    typedef fragment<matrix_b, M, N, K, B, LayoutB> FragmentB;
    typedef fragment<accumulator, M, N, K, D> Result;
    struct Both {
        const FragmentA *a;
        const FragmentB *b;
    };
    Result result = cudla_sim::exchange(~0u, Both{&a, &b}, "mma_sync", [&](const cudla_sim::Met &lanes) {
        auto at = [&](auto which, int row, int column) {
            typedef std::remove_pointer_t<decltype(which(Both()))> Fragment;
            int number = row * Fragment::columns + column, lane = number / Fragment::num_elements;
            const auto *of = which(cudla_sim::slot<Both>(lanes, static_cast<unsigned>(lane)));
            return details::number(of->x[number % Fragment::num_elements]);
        };
        Result made;
        int first = static_cast<int>(cudla_sim::lane()) * Result::num_elements;
        for (int i = 0; i < Result::num_elements; i++) {
            int row = (first + i) / N, column = (first + i) % N;
            auto sum = details::number(c.x[i]);
            for (int k = 0; k < K; k++)
                sum += at([](const Both &both) { return both.a; }, row, k) *
                       at([](const Both &both) { return both.b; }, k, column);
            made.x[i] = details::Rounded<typename Result::element_type, decltype(sum)>::of(sum);
        }
        return made;
    });
    (void)saturates; /* sums of products of 8 bits do not reach the ends of an int */
    cudla_sim::lanes_barrier(~0u, "mma_sync"); /* d may be a lane's c, which others do not read; a and b they do */
    d = result;
}

inline float __float_to_tf32(float value) { return cudla_sim::ptx_tf32(value); }

} // namespace wmma
} // namespace nvcuda

using nvcuda::wmma::__float_to_tf32;

#endif
