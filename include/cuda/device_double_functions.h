/* SPDX-License-Identifier: Apache-2.0
 *
 * device_double_functions.h - functions that device code has without an include.
 */
#ifndef __DEVICE_DOUBLE_FUNCTIONS_H__
#define __DEVICE_DOUBLE_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __DEVICE_DOUBLE_FUNCTIONS_H__ */
