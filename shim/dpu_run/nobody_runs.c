/* What becomes of a program of which no tasklet can go on. */
#include "switch.h"

extern char NR_TASKLETS[] __attribute__((visibility("default")));

/* Tasklets that have executed `stop` and are not resumed end the program: a DPU is done when no run bit is
   set. One that waits in the runtime for another waits without end. */
void rt_nobody_runs(uint64_t pc, uint64_t object)
{
    for (uint32_t i = 0; i < (uint32_t)(uintptr_t)NR_TASKLETS; i++)
        if (rt_wait[i].kind != WAIT_ENDED && rt_wait[i].kind != WAIT_STOPPED)
            rt_fault(FAULT_DEADLOCK, 0, pc, object, 0);
    rt_leave(rt_stack_pointer[MAIN_CONTEXT]);
}
