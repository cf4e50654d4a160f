/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/ptx.hpp - the instructions of inline PTX that public programs beside cuDLA use (PTX ISA).
 * The rewriter turns `asm` statements into calls of these (cudla_sim/cuda/nvcc/inline_ptx.py).
 */
#ifndef CUDLA_SIM_KERNELS_PTX_H
#define CUDLA_SIM_KERNELS_PTX_H

#include "builtins.hpp"

namespace cudla_sim {
namespace ptx {

template <class To> inline To saturated(long long value) {
    constexpr long long least = static_cast<long long>(std::numeric_limits<To>::min());
    constexpr long long most = static_cast<long long>(std::numeric_limits<To>::max());
    return static_cast<To>(value < least ? least : value > most ? most : value);
}

/* cvt.rzi.s8.f32: towards zero; conversions of reals to integers saturate, a NaN becomes 0. */
template <class D> inline void cvt_rzi_s8_f32(D &d, float a) {
    d = static_cast<D>(a != a ? 0
                              : saturated<signed char>(a < -200.0f  ? -200
                                                       : a > 200.0f ? 200
                                                                    : static_cast<int>(a)));
}
/* cvt.rn.f32.s8 */
template <class A> inline void cvt_rn_f32_s8(float &d, A a) {
    d = static_cast<float>(static_cast<signed char>(a));
}
/* prmt.b32 */
template <class D> inline void prmt_b32(D &d, unsigned a, unsigned b, unsigned selector) {
    d = static_cast<D>(__byte_perm(a, b, selector));
}
/* ld.global.nc.v4.f32 */
inline void ld_global_nc_v4_f32(float &x, float &y, float &z, float &w, const void *from) {
    float values[4];
    memcpy(values, from, sizeof values);
    x = values[0], y = values[1], z = values[2], w = values[3];
}
/* cvt.pack.sat.T.s32.b32: a and b as bytes above the lower half of c. */
template <class T> inline unsigned packed(int a, int b, unsigned c) {
    unsigned high = static_cast<unsigned char>(saturated<T>(a)),
             low = static_cast<unsigned char>(saturated<T>(b));
    return (c & 0xffffu) << 16 | high << 8 | low;
}
template <class D> inline void cvt_pack_sat_s8_s32_b32(D &d, int a, int b, unsigned c) {
    d = static_cast<D>(packed<signed char>(a, b, c));
}
template <class D> inline void cvt_pack_sat_u8_s32_b32(D &d, int a, int b, unsigned c) {
    d = static_cast<D>(packed<unsigned char>(a, b, c));
}

} // namespace ptx
} // namespace cudla_sim

#endif
