/*
 * Who goes on next: tasklets with an event in the order of work, and those that sleep until a time.
 */
#include "order.h"
#include "switch.h"

/* The work that is done before a sleeper goes on: what else happens up to then comes before it. */
static void find_wakes(void)
{
    uint64_t passes = rt_order.first_awake - rt_order.base.now;
    rt_order.wakes = rt_order.asleep == 0 ? NEVER
        : rt_order.base.work + (rt_order.running ? passes / rt_order.turn : 0);
}

void rt_order_running(uint32_t tasklets, uint64_t time)
{
    rt_order.base.retired += (rt_order.work - rt_order.base.work) * rt_order.running;
    rt_order.base.now = time;
    rt_order.base.work = rt_order.work;
    rt_order.running = tasklets;
    rt_order.turn = rt_order.running > ISSUE ? rt_order.running : ISSUE;
    find_wakes();
}

void rt_order_sleep(uint32_t tasklet, uint64_t time)
{
    if (rt_order.asleep == 0 || time < rt_order.first_awake)
        rt_order.first_awake = time;
    rt_order.asleep |= 1u << tasklet;
    rt_order.tasklets[tasklet].until = time;
    rt_order.tasklets[tasklet].since = rt_order_now();
}

/* Of equals the first one by round robin. */
static uint32_t first_asleep(void)
{
    uint32_t found = MAX_TASKLETS, begin = __rt_me + 1;
    uint32_t asleep = rt_order.asleep;
    for (uint32_t set = asleep >> begin | asleep << (32 - begin); set; set &= set - 1) {
        uint32_t i = ((uint32_t)__builtin_ctz(set) + begin) & 31;
        if (found == MAX_TASKLETS || rt_order.tasklets[i].until < rt_order.tasklets[found].until)
            found = i;
    }
    return found;
}

static void wake_first(void)
{
    uint32_t awake = first_asleep();
    rt_order.work = rt_order.wakes;
    rt_order.asleep &= ~(1u << awake);
    if (rt_order.asleep)
        rt_order.first_awake = rt_order.tasklets[first_asleep()].until;
    uint64_t time = rt_order.tasklets[awake].until;
    rt_times()->tasklets[awake].dma_cycles += (time - rt_order.tasklets[awake].since) / CYCLE;
    rt_order_running(rt_order.running + 1, time);
    events_add(&rt_order.events, rt_order.work, event_of(awake, COMPUTES, 0));
}

/* Lets time pass to the next tasklet that goes on; MAX_TASKLETS when none ever will. It has the turn
 * then, for round robin too. */
uint32_t rt_order_next(void)
{
    for (;;) {
        uint64_t at = events_at(&rt_order.events, rt_order.events.first);
        if (at > rt_order.wakes) {
            wake_first();
            continue;
        }
        if (at == NEVER)
            return MAX_TASKLETS;
        events_order(&rt_order.events, __rt_me);
        event event = events_of(&rt_order.events, rt_order.events.first++);
        uint32_t tasklet = event_tasklet(event), bit = event_bit(event);
        rt_order.work = at;
        if (event_what(event) == RELEASES) {
            __rt_me = tasklet;
            rt_released(bit);
            if (event_what(rt_order.tasklets[tasklet].then) == RELEASES)
                return tasklet;
            events_add(&rt_order.events, rt_order.tasklets[tasklet].then_at,
                rt_order.tasklets[tasklet].then);
        } else if (event_what(event) == COMPUTES || rt_takes_bit(tasklet, bit)) {
            __rt_me = tasklet;
            if (rt_order.tasklets[tasklet].act == 0 || rt_order.tasklets[tasklet].act(tasklet))
                return tasklet;
        }
    }
}

void rt_order_go_on(uint64_t pc, uint64_t object)
{
    uint32_t from = __rt_me, to = rt_order_next();
    if (to == MAX_TASKLETS) {
        __rt_me = from;
        if (rt_wait[from].kind != WAIT_NONE)
            pc = rt_wait[from].pc, object = rt_wait[from].object;
        rt_nobody_runs(pc, object);
    }
    if (to != from)
        rt_switch_from(from, to);
}
