/* Between tasklets: inline, because the schedulers of host time and hardware time do little else. */
#ifndef DPU_RUN_SWITCH_H
#define DPU_RUN_SWITCH_H

#include "rt.h"

/* The present one, `from`, goes on where it is switched to again. */
static inline void rt_switch_from(uint32_t from, uint32_t to)
{
    if (rt_race_on)
        rt_race_slice_end(from);
    rt_switches++;
    __rt_me = to;
    rt_switch(&rt_stack_pointer[from], rt_stack_pointer[to]);
}

static inline void rt_switch_to(uint32_t to)
{
    rt_switch_from(__rt_me, to);
}

#endif
