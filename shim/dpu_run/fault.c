/*
 * Faults: a DPU stops as a whole, and the side page says why. Codes of program faults and the two
 * hardware faults (memory, DMA) are those of the UPMEM SDK 2025.1; the other kinds are what strict
 * checks and this runtime add.
 */
#include "race.h"

extern char __rt_user_text_start[], __rt_user_text_end[];

uint32_t rt_checks;
struct dpu_side rt_side;

bool rt_in_user_code(uint64_t pc)
{
    return pc >= (uintptr_t)__rt_user_text_start && pc < (uintptr_t)__rt_user_text_end;
}

/* Words of the stack that look like return addresses; functions keep no frame pointers. */
static void chain(struct dpu_event *event, uint64_t stack_pointer)
{
    event->chain_length = 0;
    uint64_t end = STACKS_BASE + (event->tasklet + 1) * STACK_STRIDE;
    uint64_t sp = (stack_pointer + 7) & ~7ull;
    if (sp < rt_stack_bottom(event->tasklet) || sp > end)
        return;
    for (uint32_t words = 0; sp < end && words < 4096 && event->chain_length < 8; sp += 8, words++) {
        uint64_t word = *(uint64_t *)(uintptr_t)sp;
        if (rt_in_user_code(word))
            event->chain[event->chain_length++] = word;
    }
}

void rt_stop_dpu(uint32_t kind, uint32_t code, uint64_t pc, uint64_t address, uint64_t size,
    uint64_t stack_pointer)
{
    struct dpu_event *fault = &rt_side.fault;
    fault->kind = kind;
    fault->code = code;
    fault->tasklet = __rt_me;
    fault->pc = pc;
    fault->address = address;
    fault->size = (uint32_t)size;
    chain(fault, stack_pointer);
    if (kind == FAULT_DEADLOCK && rt_watcher)
        rt_watcher->deadlock();
    rt_side.state = STATE_FAULT;
    rt_leave(rt_stack_pointer[MAIN_CONTEXT]);
}

void rt_fault(uint32_t kind, uint32_t code, uint64_t pc, uint64_t address, uint64_t size)
{
    rt_stop_dpu(kind, code, pc, address, size, (uintptr_t)__builtin_frame_address(0));
}

void rt_describe(struct dpu_event *event, uint32_t kind, uint64_t pc, uint64_t address,
    uint64_t size, uint64_t other)
{
    event->kind = kind;
    event->code = 0;
    event->tasklet = __rt_me;
    event->pc = pc;
    event->address = address;
    event->size = (uint32_t)size;
    event->other = other;
    event->other_tasklet = 0;
    chain(event, (uintptr_t)__builtin_frame_address(0));
}

/* Room for a report, one for each kind and place; NULL when there is none. */
static struct dpu_event *room_for(uint32_t kind, uint64_t pc)
{
    struct dpu_side *side = &rt_side;
    for (uint32_t i = 0; i < side->nr_warnings; i++)
        if (side->warnings[i].kind == kind && side->warnings[i].pc == pc)
            return NULL;
    return side->nr_warnings == MAX_WARNINGS ? NULL : &side->warnings[side->nr_warnings++];
}

void rt_warn_event(const struct dpu_event *event)
{
    struct dpu_event *warning = room_for(event->kind, event->pc);
    if (warning)
        rt_copy(warning, event, sizeof(*warning));
}

void rt_warn(uint32_t kind, uint64_t pc, uint64_t address, uint64_t size, uint64_t other,
    uint32_t other_tasklet)
{
    struct dpu_event *warning = room_for(kind, pc);
    if (!warning)
        return;
    rt_describe(warning, kind, pc, address, size, other);
    warning->other_tasklet = other_tasklet;
}

/* A strict check failed: stops the DPU, or warns, or does nothing, as `check` is set. */
bool rt_report(enum check check, uint32_t kind, uint64_t pc, uint64_t address, uint32_t size,
    uint64_t other)
{
    uint32_t how = rt_check(check);
    if (how == CHECK_FAULT) {
        rt_side.fault.other = other;
        rt_fault(kind, 0, pc, address, size);
    }
    if (how == CHECK_WARN)
        rt_warn(kind, pc, address, size, other, 0);
    return how != CHECK_OFF;
}
