/* SPDX-License-Identifier: Apache-2.0
 *
 * math_functions.h - functions that device code has without an include.
 */
#ifndef __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __MATH_FUNCTIONS_H__ */
