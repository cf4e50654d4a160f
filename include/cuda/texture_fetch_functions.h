/* SPDX-License-Identifier: Apache-2.0
 *
 * texture_fetch_functions.h - fetches that device code has without an include.
 */
#ifndef __TEXTURE_FETCH_FUNCTIONS_H__
#define __TEXTURE_FETCH_FUNCTIONS_H__

#include "texture_types.h"

#endif /* __TEXTURE_FETCH_FUNCTIONS_H__ */
