/* SPDX-License-Identifier: Apache-2.0
 *
 * nvToolsExtCudaRt.h - where NVTX's header was before its third version.
 */
#include "nvtx3/nvToolsExtCudaRt.h"
