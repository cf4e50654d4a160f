/* What happens to atomic bits at their time in hardware time, while no tasklet runs. */
#include "order.h"

struct order rt_order;
bool rt_bits[ATOMIC_BITS]; /* taken */

/* It tries a bit, at its time: nothing of the program runs for a try that fails. */
bool rt_takes_bit(uint32_t tasklet, uint32_t bit)
{
    if (rt_bits[bit]) {
        rt_order.tasklets[tasklet].until = rt_order.work;
        retries_add(&rt_order.retries, bit, tasklet, rt_order.work);
        return false;
    }
    rt_bits[bit] = true;
    rt_wait[tasklet].kind = WAIT_NONE;
    return true;
}

/*
 * Those that wait for it meet it at their next retry, which they made each turn since the first one.
 * The first one takes it, so only that one tries: the others fail then, unless somebody else was
 * faster, which the first one finds out. Retries that fall together with the release are in
 * neighbouring cycles of one turn on a DPU: each has its own place from now on.
 */
void rt_released(uint32_t bit)
{
    if (bit == OBJECT) {
        rt_order.tasklets[__rt_me].release(rt_order.tasklets[__rt_me].released);
        return;
    }
    rt_bits[bit] = false;
    if (rt_order.retries.ring[bit] == NOBODY)
        return;
    struct retries *retries = &rt_order.retries;
    uint32_t place = (uint32_t)rt_order.work << 5, passes;
    uint32_t first = retries_first(retries, retries->ring[bit], place);
    while ((passes = retries_passes(retries, first, place) >> 5) == 0) {
        uint32_t behind = first > __rt_me ? first - __rt_me : first + rt_order.count - __rt_me;
        uint64_t at = rt_order.tasklets[first].until
            + behind * (uint32_t)INSTRUCTION / (rt_order.count > ISSUE ? rt_order.count : ISSUE);
        rt_order.tasklets[first].until = at;
        retries_remove(retries, bit, first);
        retries_add(retries, bit, first, at);
        first = retries_first(retries, retries->ring[bit], place);
    }
    retries_remove(retries, bit, first);
    rt_count_retries(first, rt_order.work + passes);
    events_add(&rt_order.events, rt_order.work + passes, event_of(first, TRIES, bit));
}

/* The release that the tasklet has behind it happens, and what is done then in its time. */
void rt_settle_release(event then, uint64_t then_at)
{
    uint32_t me = event_tasklet(then);
    rt_order.tasklets[me].then = then;
    rt_order.tasklets[me].then_at = then_at;
    events_add(&rt_order.events, rt_order.release.at, event_of(me, RELEASES, rt_order.release.bit));
    rt_order.release.bit = NONE;
}
