/* SPDX-License-Identifier: Apache-2.0
 *
 * sm_61_intrinsics.h - functions that device code has without an include.
 */
#ifndef __SM_61_INTRINSICS_H__
#define __SM_61_INTRINSICS_H__

#include "vector_types.h"

#endif /* __SM_61_INTRINSICS_H__ */
