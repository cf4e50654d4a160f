/*
 * The order of what tasklets do in hardware time: what times.c (the clock and its users) and bits.c (locks)
 * have in common.
 */
#ifndef DPU_RUN_ORDER_H
#define DPU_RUN_ORDER_H

#include "events.h"
#include "hardware.h"
#include "retries.h"
#include "times.h"

/* Fractions of 1/65536: work in half instructions, time in half cycles. */
#define INSTRUCTION (1ull << PLACE_BITS)
#define CYCLE (2ull << 16)

#define NONE (~0u)
#define OBJECT 256u /* something else than a bit: see acts.c */

extern uint64_t __rt_count __attribute__((weak));

extern struct order {
    struct {
        uint64_t until;   /* asleep: time; retries a bit: the work at which it began */
        uint64_t since;   /* time at which it was blocked or sent to sleep */
        uint64_t then_at; /* behind a release: */
        event then;       /* what it does next; at the release itself it only goes on */
        uint32_t object, released;     /* of the act, of the release: see acts.c */
        void (*release)(uint32_t released); /* of what is no bit */
        bool (*act)(uint32_t tasklet); /* instead of going on; true: and it goes on. 0: it goes on */
    } tasklets[MAX_TASKLETS];
    struct events events;
    struct retries retries;
    uint32_t count;
    uint32_t running; /* tasklets that execute something, a retry too */
    uint32_t asleep;  /* a bit for each tasklet */
    uint64_t first_awake, wakes; /* the time at which the first of them goes on; the work then */
    uint64_t turn; /* cycles from an instruction of a tasklet to its next */
    uint64_t work;
    struct {
        uint64_t work, now, retired;
    } base; /* when `running` changed last */
    struct {
        uint64_t at;
        uint64_t halves; /* half instructions up to it */
        uint32_t bit;    /* or OBJECT, or NONE: nothing */
    } release; /* what the tasklet that runs has released, before the time of that */
} rt_order;

uint32_t rt_order_next(void);
void rt_order_go_on(uint64_t pc, uint64_t object);
void rt_order_running(uint32_t tasklets, uint64_t time);
void rt_order_sleep(uint32_t tasklet, uint64_t time);

/* tries.c */
bool rt_takes_bit(uint32_t tasklet, uint32_t bit);
void rt_released(uint32_t bit);
void rt_settle_release(event then, uint64_t then_at);

static inline struct dpu_times *rt_times(void)
{
    return &rt_side.times;
}

static inline uint64_t rt_order_now(void)
{
    return rt_order.base.now + (rt_order.work - rt_order.base.work) * rt_order.turn;
}

/* Nobody else does anything up to this work. */
static inline bool rt_order_alone(uint64_t at)
{
    return events_at(&rt_order.events, rt_order.events.first) > at && rt_order.wakes >= at;
}

/* The counted instructions of the tasklet since it has released something, as work. */
static inline uint64_t rt_take_count(void)
{
    uint64_t halves = __rt_count;
    __rt_count = 0;
    rt_times()->tasklets[__rt_me].half_instructions += halves + rt_order.release.halves;
    rt_order.release.halves = 0;
    return halves << 16;
}

/* What the tasklet that runs has counted is up to the release of `bit`. */
static inline void rt_time_release(uint32_t bit)
{
    uint64_t halves = __rt_count;
    __rt_count = 0;
    rt_order.release.at = rt_order.work + (halves << 16);
    rt_order.release.halves = halves;
    rt_order.release.bit = bit;
}

static inline void rt_count_retries(uint32_t tasklet, uint64_t end)
{
    rt_times()->tasklets[tasklet].retries += (end - rt_order.tasklets[tasklet].until) / INSTRUCTION;
}

#endif
