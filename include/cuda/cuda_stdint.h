/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_stdint.h - integers of a width.
 */
#ifndef __cuda_stdint_h__
#define __cuda_stdint_h__

#include <stdint.h>

#endif /* __cuda_stdint_h__ */
