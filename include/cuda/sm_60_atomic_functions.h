/* SPDX-License-Identifier: Apache-2.0
 *
 * sm_60_atomic_functions.h - functions that device code has without an include.
 */
#ifndef __SM_60_ATOMIC_FUNCTIONS_H__
#define __SM_60_ATOMIC_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __SM_60_ATOMIC_FUNCTIONS_H__ */
