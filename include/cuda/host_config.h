/* SPDX-License-Identifier: Apache-2.0
 *
 * host_config.h - what the host's compiler has to be; any that compiles C++17 will do here.
 */
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__

#include "host_defines.h"

#endif /* __HOST_CONFIG_H__ */
