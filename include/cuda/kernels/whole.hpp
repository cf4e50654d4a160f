/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/whole.hpp - the parts of the engine that are compiled once: see once.hpp.
 */
#ifndef CUDLA_SIM_KERNELS_WHOLE_H
#define CUDLA_SIM_KERNELS_WHOLE_H

#include "blocks.hpp"
#include "cores.hpp"
#include "faults.hpp"
#include "submit.hpp"

#endif
