/*
 * Hardware time: tasklets run in virtual time, as a simulation of discrete events.
 *
 * A tasklet executes natively up to its next event (DMA, lock, barrier, reading the counter, its end)
 * and counts the DPU's instructions on the way; the event happens when the DPU would have executed
 * them. A DPU issues one instruction a cycle, and the same tasklet again after 11 cycles: with R
 * tasklets that execute something, each gets one instruction in max(11, R) cycles. So a common clock
 * of work per tasklet tells who comes first, and R changes only at events.
 *
 * A tasklet that waits for a lock executes a retry each turn; one that waits for DMA, a barrier or a
 * handshake executes nothing. Transfers are served one after the other in the order of issue.
 * Two runs give the same times; a tasklet that spins on a variable lets time pass in __rt_spin.
 *
 * Source of the numbers: facts of DPU timing, sections 2, 5, 6, 7.
 */
#include "order.h"
#include "switch.h"

#define BOOT_INSTRUCTIONS 4u /* of tasklet 0, and three for each atomic bit in use */
#define BOOT_EACH 3u         /* until a tasklet has booted the next one */
#define SPIN_INSTRUCTIONS 16u

extern char NR_TASKLETS[] __attribute__((visibility("default")));
extern char __rt_atomic_start[], __rt_atomic_end[];

bool rt_timed;

static uint64_t engine_free; /* the time from which on the DMA engine is */
static uint32_t last_row;

uint64_t rt_time_now(void)
{
    return rt_order_now() / CYCLE;
}

uint64_t rt_time_instructions(void)
{
    uint64_t since = (rt_order.work - rt_order.base.work) * rt_order.running;
    return (rt_order.base.retired + since) / INSTRUCTION;
}

void rt_time_add(uint32_t instructions)
{
    if (rt_timed)
        __rt_count += 2ull * instructions;
}

void rt_time_settle_release(void)
{
    if (rt_order.release.bit == NONE)
        return;
    uint64_t halves = __rt_count; /* it stays what this tasklet has executed since */
    __rt_count = 0;
    rt_take_count();
    rt_settle_release(event_of(__rt_me, RELEASES, 0), 0);
    rt_order_go_on(0, 0);
    __rt_count = halves;
}

void rt_time_settle(void)
{
    if (__rt_count == 0) {
        rt_time_settle_release();
        return; /* nobody else has come to an earlier time */
    }
    event computes = event_of(__rt_me, COMPUTES, 0);
    uint64_t counted = rt_take_count();
    if (rt_order.release.bit != NONE)
        rt_settle_release(computes, rt_order.release.at + counted);
    else
        events_add(&rt_order.events, rt_order.work + counted, computes);
    rt_order_go_on(0, 0);
}

/* rt_wait says for what. */
void rt_time_block(void)
{
    rt_time_settle();
    rt_order.tasklets[__rt_me].since = rt_order_now();
    rt_order_running(rt_order.running - 1, rt_order_now());
    rt_order_go_on(rt_wait[__rt_me].pc, rt_wait[__rt_me].object);
}

/* It is resumed, and issues again after one turn. */
void rt_time_ready(uint32_t tasklet)
{
    uint64_t waited = rt_order_now() - rt_order.tasklets[tasklet].since;
    rt_times()->tasklets[tasklet].wait_cycles += waited / CYCLE;
    rt_order_running(rt_order.running + 1, rt_order_now());
    events_add(&rt_order.events, rt_order.work + INSTRUCTION, event_of(tasklet, COMPUTES, 0));
}

void rt_time_tasklet_end(void)
{
    rt_time_settle();
    rt_times()->tasklets[__rt_me].end_cycles = rt_order_now() / CYCLE;
    rt_order_running(rt_order.running - 1, rt_order_now());
    uint32_t to = rt_order_next();
    if (to == MAX_TASKLETS)
        rt_nobody_runs(0, 0);
    rt_switches++;
    rt_leave(rt_stack_pointer[to]);
}

uint64_t rt_time_first(void)
{
    return rt_stack_pointer[rt_order_next()];
}

void rt_time_dma(uint32_t offset, uint32_t size, bool write)
{
    struct tasklet_times *own = &rt_times()->tasklets[__rt_me];
    uint64_t bytes = BYTES_CYCLES(size) * CYCLE, time = rt_order_now();
    uint64_t extra = dma_row_cycles(&last_row, offset, size, write);
    /* The transfer is the last instruction that was counted. */
    uint64_t issued = time - rt_order.turn * CYCLE;
    uint64_t start = issued > engine_free ? issued : engine_free;
    engine_free = start + bytes + extra * CYCLE;
    rt_times()->engine_cycles += (engine_free - start) / CYCLE;
    *(write ? &own->dma_written : &own->dma_read) += size;
    own->dma_transfers++;
    uint64_t back = start + bytes + (write ? WRITE_LATENCY : READ_LATENCY) * CYCLE;
    back = back > engine_free ? back : engine_free;
    rt_order_sleep(__rt_me, back > time ? back : time);
    rt_order_running(rt_order.running - 1, time);
    rt_order_go_on(0, 0);
}

/* In each round of a loop that may wait for another tasklet. */
void __rt_spin(void)
{
    if (rt_timed && __rt_count >= 2 * SPIN_INSTRUCTIONS)
        rt_time_settle();
}

void rt_time_begin(bool wanted)
{
    rt_timed = wanted && &__rt_count != 0;
    if (!rt_timed)
        return;
    rt_side.times = (struct dpu_times){0};
    __rt_count = 0;
    rt_order.release.bit = NONE;
    rt_order.release.halves = 0;
    rt_order.count = (uint32_t)(uintptr_t)NR_TASKLETS;
    rt_order.work = engine_free = rt_order.base.work = rt_order.running = rt_order.asleep = 0;
    last_row = ~0u;
    events_begin(&rt_order.events);
    retries_begin(&rt_order.retries);
    uint32_t bits = (uint32_t)(__rt_atomic_end - __rt_atomic_start);
    uint32_t boot = BOOT_INSTRUCTIONS + 3 * bits;
    rt_order_running(0, 0);
    for (uint32_t i = 0; i < rt_order.count; i++) {
        rt_order_sleep(i, (boot + BOOT_EACH * (uint64_t)(i + 1)) * ISSUE * CYCLE);
        rt_order.tasklets[i].since = rt_order.tasklets[i].until; /* a boot is no DMA */
    }
    rt_order_running(0, 0);
    rt_order.base.retired = (boot + (uint64_t)BOOT_EACH * rt_order.count) * INSTRUCTION;
}

void rt_time_end(void)
{
    if (!rt_timed)
        return;
    for (uint32_t i = 0; i < rt_order.count; i++)
        rt_times()->tasklets[i].half_instructions += 2 * rt_times()->tasklets[i].retries;
    rt_times()->counted = 1;
}
