/* SPDX-License-Identifier: Apache-2.0
 *
 * sm_35_atomic_functions.h - functions that device code has without an include.
 */
#ifndef __SM_35_ATOMIC_FUNCTIONS_H__
#define __SM_35_ATOMIC_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __SM_35_ATOMIC_FUNCTIONS_H__ */
