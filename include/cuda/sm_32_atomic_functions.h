/* SPDX-License-Identifier: Apache-2.0
 *
 * sm_32_atomic_functions.h - functions that device code has without an include.
 */
#ifndef __SM_32_ATOMIC_FUNCTIONS_H__
#define __SM_32_ATOMIC_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __SM_32_ATOMIC_FUNCTIONS_H__ */
