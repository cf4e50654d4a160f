/* SPDX-License-Identifier: Apache-2.0
 *
 * nvToolsExtCuda.h - where NVTX's header was before its third version.
 */
#include "nvtx3/nvToolsExtCuda.h"
