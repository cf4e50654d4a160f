/* SPDX-License-Identifier: Apache-2.0
 *
 * nvToolsExt.h - NVTX functions that programs beside cuDLA call. There is no profiler: they do
 * nothing. CUDLA_SIM_TRACE records what a profiler would show.
 */
#ifndef NVTOOLSEXT_H_
#define NVTOOLSEXT_H_

#if !defined(CUDLA_SIM_PARSE) /* nothing here is exported */

#include <stdint.h>

typedef uint64_t nvtxRangeId_t;

static inline void nvtxInitialize(const void *reserved) { (void)reserved; }
static inline void nvtxMarkA(const char *message) { (void)message; }
static inline int nvtxRangePushA(const char *message) { return (void)message, -1; }
static inline int nvtxRangePop(void) { return -1; }
static inline nvtxRangeId_t nvtxRangeStartA(const char *message) { return (void)message, 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }

#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA

#endif /* !CUDLA_SIM_PARSE */

#endif /* NVTOOLSEXT_H_ */
