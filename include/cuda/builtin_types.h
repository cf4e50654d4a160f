/* SPDX-License-Identifier: Apache-2.0
 *
 * builtin_types.h - all types of the runtime at once.
 */
#ifndef __BUILTIN_TYPES_H__
#define __BUILTIN_TYPES_H__

#include "driver_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif /* __BUILTIN_TYPES_H__ */
