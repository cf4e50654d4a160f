/*
 * Tasklets as fibers, and their scheduler.
 *
 * The ready tasklets form a ring in the order in which they became ready; the current one is in it.
 * A DPU advances all its tasklets together, an instruction each in turn. What programs may observe
 * of that is kept by yielding often: the last to arrive at a barrier, every DMA, and
 * handshake_wait_for to a waiting notifier (sync.c, mram.c). A tasklet that spins without any of
 * these is switched by the timer (traps.c). In a launch in hardware time the order is that of
 * times.c, and the ring is not used.
 */
#include "switch.h"
#include "times.h"

extern char NR_TASKLETS[] __attribute__((visibility("default")));

static uint8_t next_ready[MAX_TASKLETS], previous_ready[MAX_TASKLETS];
static uint8_t nr_ready, nr_alive;
static struct {
    uint32_t first, end; /* counted on */
    uint8_t tasklets[32]; /* oldest first: who is woken mostly is */
} waiting;

static uint8_t *waits_at(uint32_t i)
{
    return &waiting.tasklets[i % sizeof(waiting.tasklets)];
}

static uint32_t nr_tasklets(void)
{
    return (uint32_t)(uintptr_t)NR_TASKLETS;
}

static void make_ready(uint32_t tasklet)
{
    if (rt_timed) {
        rt_time_ready(tasklet);
        return;
    }
    if (nr_ready++ == 0) {
        next_ready[tasklet] = previous_ready[tasklet] = (uint8_t)tasklet;
        return;
    }
    uint32_t last = previous_ready[__rt_me];
    next_ready[last] = (uint8_t)tasklet;
    previous_ready[tasklet] = (uint8_t)last;
    next_ready[tasklet] = (uint8_t)__rt_me;
    previous_ready[__rt_me] = (uint8_t)tasklet;
}

/* Takes the current tasklet out of the ring; gives the one that follows. */
static uint32_t leave_ring(void)
{
    uint32_t before = previous_ready[__rt_me], after = next_ready[__rt_me];
    next_ready[before] = (uint8_t)after;
    previous_ready[after] = (uint8_t)before;
    nr_ready--;
    return after;
}

void rt_yield(void)
{
    if (rt_timed) {
        rt_time_settle();
        return;
    }
    uint32_t to = next_ready[__rt_me];
    if (to != __rt_me)
        rt_switch_to(to);
}

/* `tasklet` is ready; it runs at once, the others keep their order. */
void rt_yield_to(uint32_t tasklet)
{
    if (tasklet == __rt_me || rt_timed)
        return;
    uint32_t before = previous_ready[tasklet], after = next_ready[tasklet];
    next_ready[before] = (uint8_t)after;
    previous_ready[after] = (uint8_t)before;
    uint32_t following = next_ready[__rt_me];
    next_ready[__rt_me] = (uint8_t)tasklet;
    previous_ready[tasklet] = (uint8_t)__rt_me;
    next_ready[tasklet] = (uint8_t)following;
    previous_ready[following] = (uint8_t)tasklet;
    rt_switch_to(tasklet);
}

void rt_waits(uint32_t tasklet)
{
    *waits_at(waiting.end++) = (uint8_t)tasklet;
}

void rt_block(uint32_t kind, uint32_t object, uint64_t pc)
{
    struct dpu_wait *wait = &rt_wait[__rt_me];
    wait->kind = kind;
    wait->object = object;
    wait->pc = pc;
    if (rt_timed) {
        rt_waits(__rt_me);
        rt_time_block();
        return;
    }
    if (nr_ready == 1)
        rt_nobody_runs(pc, object);
    rt_waits(__rt_me);
    rt_switch_to(leave_ring());
}

static void wake_index(uint32_t index)
{
    uint32_t tasklet = *waits_at(index);
    for (uint32_t i = index; i != waiting.first; i--)
        *waits_at(i) = *waits_at(i - 1);
    waiting.first++;
    rt_wait[tasklet].kind = WAIT_NONE;
    make_ready(tasklet);
}

bool rt_wake_one(uint32_t kind, uint32_t object)
{
    for (uint32_t i = waiting.first; i != waiting.end; i++) {
        struct dpu_wait *wait = &rt_wait[*waits_at(i)];
        if (wait->kind == kind && wait->object == object) {
            wake_index(i);
            return true;
        }
    }
    return false;
}

void rt_wake_all(uint32_t kind, uint32_t object)
{
    uint32_t kept = waiting.first;
    for (uint32_t i = waiting.first; i != waiting.end; i++) {
        uint32_t tasklet = *waits_at(i);
        struct dpu_wait *wait = &rt_wait[tasklet];
        if (wait->kind == kind && wait->object == object) {
            wait->kind = WAIT_NONE;
            make_ready(tasklet);
        } else {
            *waits_at(kept++) = (uint8_t)tasklet;
        }
    }
    waiting.end = kept;
}

bool rt_wake_tasklet(uint32_t tasklet)
{
    for (uint32_t i = waiting.first; i != waiting.end; i++)
        if (*waits_at(i) == tasklet) {
            wake_index(i);
            return true;
        }
    return false;
}

void rt_tasklet_end(void)
{
    struct dpu_wait *wait = &rt_wait[__rt_me];
    wait->kind = WAIT_ENDED;
    if (rt_race_on)
        rt_race_slice_end(__rt_me);
    if (rt_timed)
        rt_time_tasklet_end();
    if (--nr_alive == 0)
        rt_leave(rt_stack_pointer[MAIN_CONTEXT]);
    if (nr_ready == 1)
        rt_nobody_runs(0, 0);
    uint32_t to = leave_ring();
    rt_switches++;
    __rt_me = to;
    rt_leave(rt_stack_pointer[to]);
}

/* Runs main() in every tasklet; returns when all ended or one faulted. */
void rt_run_tasklets(void)
{
    uint32_t count = nr_tasklets();
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *top = (uint64_t *)(uintptr_t)(STACKS_BASE + (i + 1) * STACK_STRIDE);
        top[-3] = (uintptr_t)rt_fiber_entry;
        rt_stack_pointer[i] = (uintptr_t)(top - 9); /* six registers below it */
        next_ready[i] = (uint8_t)(i + 1 == count ? 0 : i + 1);
        previous_ready[i] = (uint8_t)(i ? i - 1 : count - 1);
        rt_wait[i].kind = WAIT_NONE;
    }
    nr_ready = nr_alive = (uint8_t)count;
    waiting.first = waiting.end = 0;
    __rt_me = 0;
    if (rt_timed) {
        rt_switch(&rt_stack_pointer[MAIN_CONTEXT], rt_time_first());
        return;
    }
    rt_switch(&rt_stack_pointer[MAIN_CONTEXT], rt_stack_pointer[0]);
}
