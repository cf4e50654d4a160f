/* SPDX-License-Identifier: Apache-2.0
 *
 * device_types.h - types of device code.
 */
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__

#include "host_defines.h"

#endif /* __DEVICE_TYPES_H__ */
