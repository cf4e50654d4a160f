/* SPDX-License-Identifier: Apache-2.0
 *
 * texture_indirect_functions.h - functions that device code has without an include.
 */
#ifndef __TEXTURE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__

#include "vector_types.h"

#endif /* __TEXTURE_INDIRECT_FUNCTIONS_H__ */
