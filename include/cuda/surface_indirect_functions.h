/* SPDX-License-Identifier: Apache-2.0
 *
 * surface_indirect_functions.h - functions that device code has without an include.
 */
#ifndef __SURFACE_INDIRECT_FUNCTIONS_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __SURFACE_INDIRECT_FUNCTIONS_H__ */
