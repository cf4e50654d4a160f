/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/ptx_matrices.hpp - matrices of a warp in inline PTX (PTX ISA, "Matrix fragments for mma", "ldmatrix").
 *
 * Sums are made in float (double, integer), one product after another; a GPU's may be in another order.
 */
#ifndef CUDLA_SIM_KERNELS_PTX_MATRICES_H
#define CUDLA_SIM_KERNELS_PTX_MATRICES_H

#include "ptx_memory.hpp"

namespace cudla_sim {

/* Lane l of a matrix of 8 by 8: its row is l / 4, and it has two elements of it. */
template <unsigned Count, bool Turned> inline Loaded<uint32_t, Count> ptx_ldmatrix(uintptr_t row) {
    Loaded<uint32_t, Count> result;
    return exchange(~0u, row, "ldmatrix", [&](const Met &lanes) {
        for (unsigned m = 0; m < Count; m++) {
            uint16_t pair[2];
            for (unsigned i = 0; i < 2; i++) {
                const unsigned along = lane() / 4, across = 2 * (lane() % 4) + i;
                const uintptr_t from = slot<uintptr_t>(lanes, 8 * m + (Turned ? across : along));
                memcpy(&pair[i], reinterpret_cast<const uint16_t *>(from) + (Turned ? along : across), sizeof *pair);
            }
            memcpy(&result.v[m], pair, sizeof pair);
        }
        return result;
    });
}
template <unsigned Count, bool Turned> inline void ptx_stmatrix(uintptr_t row, Loaded<uint32_t, Count> values) {
    exchange(~0u, row, "stmatrix", [&](const Met &lanes) {
        for (unsigned m = 0; m < Count; m++) {
            uint16_t pair[2];
            memcpy(pair, &values.v[m], sizeof pair);
            for (unsigned i = 0; i < 2; i++) {
                const unsigned along = lane() / 4, across = 2 * (lane() % 4) + i;
                const uintptr_t to = slot<uintptr_t>(lanes, 8 * m + (Turned ? across : along));
                memcpy(reinterpret_cast<uint16_t *>(to) + (Turned ? along : across), &pair[i], sizeof *pair);
            }
        }
        return 0;
    });
}

struct Tf32 {
    uint32_t bits;
};

/* An element in a register with others, and as a number in a sum. */
template <class T> struct Element {
    typedef uint32_t Register;
    static constexpr unsigned SHARE = 4 / sizeof(T);
    static auto number(uint32_t held, unsigned which) {
        return ptx_number(ptx_in<T>(static_cast<std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>(
            held >> (8 * sizeof(T) * which))));
    }
};
template <> struct Element<Tf32> {
    typedef float Register;
    static constexpr unsigned SHARE = 1;
    static float number(float held, unsigned) { return ptx_in<float>(ptx_in<uint32_t>(held) & ~0x1fffu); }
};
template <class T> struct Alone {
    typedef T Register;
    static constexpr unsigned SHARE = 1;
    static T number(T held, unsigned) { return held; }
};
template <> struct Element<float> : Alone<float> {};
template <> struct Element<double> : Alone<double> {};
template <> struct Element<int32_t> : Alone<int32_t> {};

/* What a lane has of a matrix of so many elements. */
template <class T, unsigned Elements> using Part =
    Loaded<typename Element<T>::Register, Elements / WARP / Element<T>::SHARE>;

/* d = a * b + c, a by rows and b by columns. Lane l has of every eight rows number l / 4; its elements of a row lie
 * together, and the next register's eight rows, then four registers' columns on. */
template <unsigned M, unsigned K, class D, class A, class B, class C>
inline Part<D, M * 8> ptx_mma(Part<A, M * K> a, Part<B, 8 * K> b, Part<C, M * 8> c) {
    struct Both {
        Part<A, M * K> a;
        Part<B, 8 * K> b;
    };
    constexpr unsigned SHARE_A = Element<A>::SHARE, SHARE_B = Element<B>::SHARE, ROWS = M / 8;
    return exchange(~0u, Both{a, b}, "mma.sync", [&](const Met &lanes) {
        Part<D, M * 8> result{};
        for (unsigned i = 0; i < M * 8 / WARP; i++) {
            const unsigned row = lane() / 4 + 8 * (i / 2), column = 2 * (lane() % 4) + i % 2;
            auto sum = Element<C>::number(c.v[i / Element<C>::SHARE], i % Element<C>::SHARE);
            for (unsigned k = 0; k < K; k++) {
                const Both at_a = slot<Both>(lanes, 4 * (row % 8) + k / SHARE_A % 4);
                const Both at_b = slot<Both>(lanes, 4 * column + k / SHARE_B % 4);
                sum += Element<A>::number(at_a.a.v[row / 8 + ROWS * (k / SHARE_A / 4)], k % SHARE_A) *
                       Element<B>::number(at_b.b.v[k / SHARE_B / 4], k % SHARE_B);
            }
            if constexpr (Element<D>::SHARE == 1)
                result.v[i] = static_cast<D>(sum);
            else
                result.v[i / 2] |= static_cast<uint32_t>(ptx_in<uint16_t>(ptx_cvt_rzi<D>(sum))) << (16 * (i % 2));
        }
        return result;
    });
}

} // namespace cudla_sim

#endif
