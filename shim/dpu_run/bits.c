/*
 * Atomic bits in hardware time: tries, retries and releases.
 *
 * Programs that do little but take and release locks spend their time here, so changing tasklets is
 * what costs: one that releases a bit goes on natively to its next event, and the release happens at
 * its time without it. Everything that asks what time it is lets it happen first (settle_release).
 */
#include "order.h"
#include "switch.h"

/*
 * What a program that fights for one mutex does all the time: this tasklet has released a bit that
 * others retry, and wants it again, at `at`. The first of them gets it before anything else happens.
 * Gives that one, or NONE when something else comes first.
 */
static inline uint32_t hands_on(uint32_t bit, uint64_t at)
{
    struct events *events = &rt_order.events;
    struct retries *retries = &rt_order.retries;
    uint64_t released_at = rt_order.release.at, tried_at;
    for (; (tried_at = events_at(events, events->first)) < released_at; events->first++) {
        uint32_t tasklet = events_of(events, events->first) - event_of(0, TRIES, bit);
        if (tasklet >= MAX_TASKLETS)
            return NONE;
        rt_order.tasklets[tasklet].until = tried_at;
        retries_add(retries, bit, tasklet, tried_at);
    }
    if (retries->ring[bit] == NOBODY)
        return NONE;
    uint32_t place = (uint32_t)released_at << 5;
    uint32_t to = retries_first(retries, retries->ring[bit], place);
    uint32_t passes = retries_passes(retries, to, place) >> 5;
    uint64_t taken_at = released_at + passes;
    if (passes == 0 || at <= taken_at || tried_at <= taken_at || rt_order.wakes < taken_at
        || rt_order.tasklets[to].act)
        return NONE;
    retries_remove(retries, bit, to);
    rt_count_retries(to, taken_at);
    events_add(events, at, event_of(__rt_me, TRIES, bit));
    rt_wait[to].kind = WAIT_NONE;
    rt_order.work = taken_at;
    rt_order.release.bit = NONE;
    return to;
}

static __attribute__((noinline)) void take(uint32_t bit, uint64_t pc, uint64_t at)
{
    uint32_t me = __rt_me;
    if (rt_order.release.bit != NONE && rt_order_alone(rt_order.release.at)) {
        rt_order.work = rt_order.release.at;
        rt_released(rt_order.release.bit);
        rt_order.release.bit = NONE;
    }
    if (rt_order.release.bit != NONE) {
        rt_settle_release(event_of(me, TRIES, bit), at);
    } else if (rt_order_alone(at)) {
        rt_order.work = at;
        if (rt_takes_bit(me, bit)
            && (rt_order.tasklets[me].act == 0 || rt_order.tasklets[me].act(me)))
            return;
    } else {
        events_add(&rt_order.events, at, event_of(me, TRIES, bit));
    }
    rt_order_go_on(pc, bit);
}

/* Takes a bit: tries it now, then with one instruction each turn. */
void rt_time_take(uint32_t bit, uint64_t pc)
{
    uint32_t me = __rt_me;
    uint64_t counted = rt_take_count();
    rt_wait[me] = (struct dpu_wait){WAIT_MUTEX, bit, pc};
    if (rt_order.release.bit != bit) {
        bool behind = rt_order.release.bit != NONE;
        take(bit, pc, (behind ? rt_order.release.at : rt_order.work) + counted);
        return;
    }
    uint32_t to = hands_on(bit, rt_order.release.at + counted);
    if (to == NONE) {
        take(bit, pc, rt_order.release.at + counted);
        return;
    }
    __rt_me = to;
    rt_switches++;
    rt_switch(&rt_stack_pointer[me], rt_stack_pointer[to]);
}

static __attribute__((noinline)) void free_now(uint32_t bit)
{
    rt_time_settle();
    rt_released(bit);
}

/* Races are looked for when tasklets change, so that they change here then. */
void rt_time_free(uint32_t bit)
{
    if (rt_race_on || rt_order.release.bit != NONE || __rt_count == 0) {
        free_now(bit);
        return;
    }
    rt_time_release(bit);
}
