/*
 * The rule of every copy between host and DPUs, by the limits that upmem/spans.py gives. The library
 * copies at once what keeps to it; Python asks the same function and says why something does not.
 */
#ifndef CUDLA_SIM_DPU_SPAN_H
#define CUDLA_SIM_DPU_SPAN_H

#include <stdint.h>

/* Whether `size` bytes at `offset` of a slot end before `end`; both are multiples of `unit`. */
static inline int sim_dpu_keeps_to(uint64_t end, uint32_t unit, uint64_t offset, uint64_t size)
{
    return offset <= end && size <= end - offset && (offset | size) % unit == 0;
}

#endif
