/* SPDX-License-Identifier: Apache-2.0
 *
 * surface_functions.h - reads and writes that device code has without an include.
 */
#ifndef __SURFACE_FUNCTIONS_H__
#define __SURFACE_FUNCTIONS_H__

#include "surface_types.h"

#endif /* __SURFACE_FUNCTIONS_H__ */
