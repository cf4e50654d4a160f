/*
 * Inside of the DPU runtime: what its files share.
 *
 * Everything here is compiled in the data model of the user's program (x32 where possible), runs
 * without a C library and talks to Linux by system calls only.
 */
#ifndef DPU_RUN_RT_H
#define DPU_RUN_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* How to unwind through the runtime is for debuggers alone: beside the program, not in its memory. */
__asm__(".cfi_sections .debug_frame");

#define API __attribute__((weak)) /* a program may bring its own function of that name */
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define NORETURN __attribute__((noreturn))
#define MAIN_CONTEXT MAX_TASKLETS

/* Data of this runtime that a DPU has in WRAM as well; also room for what it has there instead. */
#define IN_WRAM(name) __attribute__((aligned(4), section(".data.rt_wram." name)))
#define USES_WRAM(room) __asm__ volatile("" : : "r"(room))

/* sys.c */
int64_t rt_syscall(int64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
    uint64_t f);
NORETURN void rt_exit(int status);
uint64_t rt_cpu_time_ns(void);

/* switch.S */
void rt_switch(uint64_t *save, uint64_t to);
NORETURN void rt_leave(uint64_t to);
void rt_fiber_entry(void);
void rt_preempted(void);
void rt_restorer(void);

/* tasklets.c */
extern uint32_t __rt_me;
extern uint64_t rt_stack_pointer[MAX_TASKLETS + 1];
extern uint32_t rt_switches;
extern struct dpu_wait rt_wait[MAX_TASKLETS];
void rt_stacks_protect(bool guarded);
uint32_t rt_stack_bottom(uint32_t tasklet);

/* fibers.c */
void rt_yield(void);
void rt_yield_to(uint32_t tasklet);
NORETURN void rt_nobody_runs(uint64_t pc, uint64_t object);
void rt_block(uint32_t kind, uint32_t object, uint64_t pc);
void rt_waits(uint32_t tasklet); /* for what rt_wait says, behind those that do already */
bool rt_wake_one(uint32_t kind, uint32_t object);
void rt_wake_all(uint32_t kind, uint32_t object);
bool rt_wake_tasklet(uint32_t tasklet);
void rt_run_tasklets(void);
NORETURN void rt_tasklet_end(void);

/* fault.c */
extern uint32_t rt_checks;
extern struct dpu_side rt_side; /* of the DPU that runs; goes to its side page in the end */
NORETURN void rt_stop_dpu(uint32_t kind, uint32_t code, uint64_t pc, uint64_t address, uint64_t size,
    uint64_t stack_pointer);
NORETURN void rt_fault(uint32_t kind, uint32_t code, uint64_t pc, uint64_t address, uint64_t size);
void rt_warn(uint32_t kind, uint64_t pc, uint64_t address, uint64_t size, uint64_t other,
    uint32_t other_tasklet);
void rt_describe(struct dpu_event *event, uint32_t kind, uint64_t pc, uint64_t address,
    uint64_t size, uint64_t other);
void rt_warn_event(const struct dpu_event *event);
bool rt_report(enum check check, uint32_t kind, uint64_t pc, uint64_t address, uint32_t size,
    uint64_t other);
bool rt_in_user_code(uint64_t pc);

/* traps.c */
#define TICK_US 5000u
#define SHORT_TICK_US 100u
void rt_traps_setup(void);
void rt_traps_end(void); /* of a launch */
void rt_set_tick(uint32_t microseconds);

/* sync.c */
void rt_sync_begin(void);

/* perf.c */
extern uint64_t rt_dma_cycles;
void rt_perf_begin(void);
uint64_t rt_cycles(void);
uint64_t rt_instructions(uint64_t cycles);

/* print.c keeps its position here, so that a program without printf does not pull it in */
extern uint64_t rt_log_total;
extern uint32_t rt_log_capacity;

/* race.c, race_hooks.c */
extern bool rt_race_on;
void rt_race_begin(bool on, bool sampled);
void rt_race_slice_end(uint32_t tasklet);
void rt_race_acquire(uint32_t object);
void rt_race_release(uint32_t object);
void rt_race_own(const volatile void *address, uint32_t size);

/* slots.c */
void rt_slots_begin(int file, uint64_t stride);
bool rt_slots_known(void);            /* some slot may be known */
bool rt_slot_known(uint32_t slot);    /* its pages are mapped, or set aside */
void rt_slot_map(uint32_t slot);
bool rt_slot_read(uint32_t offset, void *to, uint32_t size);
void rt_slot_write(uint32_t offset, const void *from, uint32_t size);
extern bool rt_written_mapped;
void rt_map_written(void);
#define RT_BLOCK_BITS 21
extern uint32_t rt_moved[]; /* bytes that DMA moved in this launch, for each block of MRAM */

/* pages.c */
void rt_pages_begin(void);
void rt_pages_ask(uint32_t block);
static inline void rt_pages_used(uint32_t offset, uint32_t size)
{
    uint32_t *moved = &rt_moved[offset >> RT_BLOCK_BITS], before = *moved;
    *moved = before + size;
    if ((before ^ (before + size)) >> (RT_BLOCK_BITS - 2))
        rt_pages_ask(offset >> RT_BLOCK_BITS);
}

static inline uint32_t rt_check(enum check check)
{
    return (rt_checks >> (2 * check)) & 3u;
}

static inline void rt_copy(void *to, const void *from, uint32_t n)
{
    struct block {
        uint64_t w[8];
    } __attribute__((aligned(1), may_alias));
    typedef uint64_t word __attribute__((aligned(1), may_alias));
    uint8_t *t = to;
    const uint8_t *f = from;
    for (; n >= 64; n -= 64, t += 64, f += 64)
        *(struct block *)t = *(const struct block *)f;
    for (; n >= 8; n -= 8, t += 8, f += 8)
        *(word *)t = *(const word *)f;
    for (; n; n--)
        *t++ = *f++;
}

#endif
