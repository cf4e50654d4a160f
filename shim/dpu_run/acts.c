/*
 * Barriers, semaphores and virtual mutexes in hardware time: the tasklet stops, and what it does to them
 * happens at its time without it. Changing tasklets is what costs, and one that is to wait next, or only
 * lets time pass, need not be changed to for that. Where races are looked for, sync.c does the same in
 * the tasklets themselves.
 */
#include "acts.h"

#include "order.h"

#include <barrier.h>
#include <sem.h>

uint32_t rt_vmutex_waiters;

void rt_acts_begin(void)
{
    rt_vmutex_waiters = 0;
    for (uint32_t i = 0; i < MAX_TASKLETS; i++)
        rt_order.tasklets[i].act = 0;
}

static inline void *memory_of(uint32_t object)
{
    return (void *)(uintptr_t)object;
}

/* The event of the tasklet that runs, for which `act` happens; back when it goes on. */
static inline void acts(bool (*act)(uint32_t), uint32_t object, uint32_t instructions, uint64_t pc)
{
    uint32_t me = __rt_me;
    rt_order.tasklets[me].act = act;
    rt_order.tasklets[me].object = object;
    rt_wait[me].pc = pc;
    rt_time_add(instructions);
    rt_time_settle();
}

static bool waits(uint32_t tasklet, uint32_t kind)
{
    rt_wait[tasklet].kind = kind;
    rt_wait[tasklet].object = rt_order.tasklets[tasklet].object;
    rt_waits(tasklet);
    rt_order.tasklets[tasklet].since = rt_order_now();
    rt_order_running(rt_order.running - 1, rt_order_now());
    return false;
}

/* ---- barriers: arrivals go one after the other under the lock, the last resumes the others one by one ---- */

static void then(uint32_t tasklet, uint32_t halves, bool (*act)(uint32_t))
{
    rt_order.tasklets[tasklet].act = act;
    rt_times()->tasklets[tasklet].half_instructions += halves;
    events_add(&rt_order.events, rt_order.work + ((uint64_t)halves << 16), event_of(tasklet, COMPUTES, 0));
}

static bool leaves_lock(uint32_t tasklet)
{
    barrier_t *barrier = memory_of(rt_order.tasklets[tasklet].object);
    rt_order.tasklets[tasklet].act = 0;
    rt_released(barrier->lock);
    if (barrier->count == 1) {
        barrier->count = barrier->initial_count;
        barrier->wait_queue = 0xff;
        rt_wake_all(WAIT_BARRIER, rt_order.tasklets[tasklet].object);
        return true;
    }
    barrier->count--;
    barrier->wait_queue = (uint8_t)tasklet;
    return waits(tasklet, WAIT_BARRIER);
}

static bool looks_at_barrier(uint32_t tasklet)
{
    const barrier_t *barrier = memory_of(rt_order.tasklets[tasklet].object);
    uint32_t waiting = barrier->count == 1 ? (uint32_t)barrier->initial_count - 1 : 0;
    uint32_t instructions = waiting * BARRIER_RESUME_HALVES / 2;
    if (instructions == 0)
        return leaves_lock(tasklet);
    then(tasklet, 2 * instructions, leaves_lock);
    return false;
}

static bool has_lock(uint32_t tasklet)
{
    then(tasklet, 2 * BARRIER_INSIDE, looks_at_barrier);
    return false;
}

void rt_time_barrier(struct barrier_t *barrier, uint64_t pc)
{
    uint32_t lock = barrier->lock, me = __rt_me;
    rt_order.tasklets[me].act = has_lock;
    rt_order.tasklets[me].object = (uint32_t)(uintptr_t)barrier;
    rt_time_add(BARRIER_BEFORE);
    rt_time_take(lock, pc);
}

/* ---- semaphores ---- */

static bool takes_semaphore(uint32_t tasklet)
{
    sem_t *semaphore = memory_of(rt_order.tasklets[tasklet].object);
    rt_order.tasklets[tasklet].act = 0;
    semaphore->count--;
    if ((int8_t)semaphore->count >= 0)
        return true;
    semaphore->wait_queue = (uint8_t)tasklet;
    return waits(tasklet, WAIT_SEMAPHORE);
}

void rt_time_sem_take(struct sem_t *semaphore, uint64_t pc)
{
    (void)*(volatile uint8_t *)&semaphore->count; /* who has no semaphore faults by itself */
    acts(takes_semaphore, (uint32_t)(uintptr_t)semaphore, SEM_INSTRUCTIONS, pc);
}

/* ---- virtual mutexes: an object is the number of a bit of WRAM ---- */

static bool takes_virtual(uint32_t tasklet)
{
    uint32_t object = rt_order.tasklets[tasklet].object;
    uint8_t *byte = memory_of(object >> 3), bit = (uint8_t)(1u << (object & 7));
    if (*byte & bit) {
        rt_vmutex_waiters++;
        return waits(tasklet, WAIT_VMUTEX); /* and does the same again */
    }
    *byte |= bit;
    rt_order.tasklets[tasklet].act = 0;
    return true;
}

void rt_time_vmutex_lock(uint32_t object, uint64_t pc)
{
    (void)*(volatile uint8_t *)memory_of(object >> 3);
    acts(takes_virtual, object, VMUTEX_INSTRUCTIONS, pc);
}

/* ---- what is released: as bits, it happens at its time while the tasklet goes on ---- */

static void gives(uint32_t object)
{
    sem_t *semaphore = memory_of(object);
    semaphore->count++;
    rt_wake_one(WAIT_SEMAPHORE, object);
    if ((int8_t)semaphore->count >= 0)
        semaphore->wait_queue = 0xff;
}

static void unlocks_virtual(uint32_t object)
{
    *(uint8_t *)memory_of(object >> 3) &= (uint8_t) ~(1u << (object & 7));
    if (rt_vmutex_waiters && rt_wake_one(WAIT_VMUTEX, object))
        rt_vmutex_waiters--;
}

static inline void releases(void (*release)(uint32_t), uint32_t object, uint32_t instructions)
{
    uint32_t me = __rt_me;
    rt_time_add(instructions);
    if (rt_order.release.bit == NONE) {
        rt_order.tasklets[me].release = release;
        rt_order.tasklets[me].released = object;
        rt_time_release(OBJECT);
        return;
    }
    rt_time_settle(); /* of two, the second happens now */
    release(object);
}

void rt_time_sem_give(struct sem_t *semaphore)
{
    (void)*(volatile uint8_t *)&semaphore->count;
    releases(gives, (uint32_t)(uintptr_t)semaphore, SEM_INSTRUCTIONS);
}

void rt_time_vmutex_unlock(uint32_t object)
{
    (void)*(volatile uint8_t *)memory_of(object >> 3);
    releases(unlocks_virtual, object, VMUTEX_INSTRUCTIONS);
}
