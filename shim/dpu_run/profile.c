/*
 * Counters of profiled programs (toolchain/profile.py): cleared before a launch, written to the DPU's
 * slot after it. A program that was compiled without them has none.
 */
#include "times.h"

extern char __rt_profile_start[], __rt_profile_end[];

static uint32_t size(void)
{
    uint32_t bytes = (uint32_t)(__rt_profile_end - __rt_profile_start);
    return bytes < PROFILE_SIZE ? bytes : PROFILE_SIZE;
}

void rt_profile_begin(void)
{
    for (uint64_t *at = (uint64_t *)__rt_profile_start; at < (uint64_t *)__rt_profile_end; at++)
        *at = 0;
}

void rt_profile_end(void)
{
    if (size())
        rt_slot_write(SLOT_PROFILE, __rt_profile_start, size());
}
