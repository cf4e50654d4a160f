/* What becomes of a program of which no tasklet can go on. */
#include "switch.h"

extern char NR_TASKLETS[] __attribute__((visibility("default")));

/*
 * Tasklets that have executed `stop` and are not resumed end the program: a DPU is done when no run bit is
 * set. One that waits in the runtime for another waits without end. A DPU does not know the two apart,
 * unless a tasklet retries a lock: then it runs for ever.
 */
void rt_nobody_runs(uint64_t pc, uint64_t object)
{
    bool waits = false, retries = false;
    for (uint32_t i = 0; i < (uint32_t)(uintptr_t)NR_TASKLETS; i++) {
        uint32_t kind = rt_wait[i].kind;
        waits |= kind != WAIT_ENDED && kind != WAIT_STOPPED;
        retries |= kind == WAIT_MUTEX || kind == WAIT_VMUTEX;
    }
    if (waits && (retries || rt_check(CHECK_DEADLOCK) == CHECK_FAULT))
        rt_fault(FAULT_DEADLOCK, 0, pc, object, 0);
    if (waits && rt_check(CHECK_DEADLOCK) == CHECK_WARN)
        rt_warn(FAULT_DEADLOCK, pc, object, 0, 0, 0);
    rt_leave(rt_stack_pointer[MAIN_CONTEXT]);
}
