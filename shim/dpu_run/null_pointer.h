/* Accesses to the bytes that a DPU keeps for NULL pointers. */
#ifndef DPU_RUN_NULL_POINTER_H
#define DPU_RUN_NULL_POINTER_H

#include "rt.h"

#define NULL_BYTES 16u

/* Prepares the instruction that trapped at `address` for a step in WRAM; false: it is none of these. */
bool rt_null_begin(uint64_t *registers, uint64_t address);
bool rt_null_pending(void);
void rt_null_end(uint64_t *registers);

#endif
