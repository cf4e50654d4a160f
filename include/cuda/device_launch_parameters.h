/* SPDX-License-Identifier: Apache-2.0
 *
 * device_launch_parameters.h - threadIdx and its like, which kernels have without an include.
 */
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#endif /* __DEVICE_LAUNCH_PARAMETERS_H__ */
