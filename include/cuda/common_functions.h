/* SPDX-License-Identifier: Apache-2.0
 *
 * common_functions.h - functions that device code has without an include.
 */
#ifndef __COMMON_FUNCTIONS_H__
#define __COMMON_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __COMMON_FUNCTIONS_H__ */
