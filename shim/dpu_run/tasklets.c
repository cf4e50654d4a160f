/*
 * The tasklets of the DPU that runs: which one executes, what the others wait for, and their stacks.
 *
 * Stacks lie outside WRAM, because x86 frames are larger than DPU frames; their declared sizes are
 * still accounted in WRAM by the linker script. A stack may use twice the declared size and 4 KiB
 * more; below that the pages are not accessible.
 */
#include "rt.h"

extern char NR_TASKLETS[] __attribute__((visibility("default")));
extern const uint32_t __rt_stack_sizes[MAX_TASKLETS];

uint32_t __rt_me;
uint64_t rt_stack_pointer[MAX_TASKLETS + 1];
uint32_t rt_switches;
struct dpu_wait rt_wait[MAX_TASKLETS];

uint32_t rt_stack_bottom(uint32_t tasklet)
{
    uint32_t allowed = (2 * __rt_stack_sizes[tasklet] + 4096 + 4095) & ~4095u;
    if (allowed > STACK_STRIDE - 4096)
        allowed = STACK_STRIDE - 4096;
    return STACKS_BASE + (tasklet + 1) * STACK_STRIDE - allowed;
}

/* Without guards, a stack is one megabyte large. */
void rt_stacks_protect(bool guarded)
{
    uint32_t count = (uint32_t)(uintptr_t)NR_TASKLETS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t start = STACKS_BASE + i * STACK_STRIDE, bottom = rt_stack_bottom(i);
        uint32_t end = start + STACK_STRIDE;
        rt_syscall(10 /* mprotect */, start + 4096, bottom - start - 4096, guarded ? 0 : 3, 0, 0, 0);
        rt_syscall(10, bottom, end - bottom, 3, 0, 0, 0);
    }
}
