/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/standard.hpp - cuda::std is std: device code has the host's standard library.
 */
#ifndef CUDLA_SIM_KERNELS_STANDARD_H
#define CUDLA_SIM_KERNELS_STANDARD_H

namespace std {}
namespace cuda {
namespace std {
using namespace ::std;
} // namespace std
} // namespace cuda

#endif
