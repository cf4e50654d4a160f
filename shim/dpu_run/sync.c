/*
 * Barriers, mutexes, semaphores, handshakes, virtual mutexes and atomic bits.
 *
 * Waiting tasklets stand in the scheduler's queue, first in first out; the fields of the public
 * four-byte structs (wait_queue, count, initial_count, lock) are kept as the SDK documents them,
 * because programs fill them by hand. All atomic bits are clear when a launch starts.
 * Source: UPMEM SDK 2025.1, user manual, "Tasklet management and synchronization".
 */
#include "acts.h"

#include <barrier.h>
#include <errno.h>
#include <handshake.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <sem.h>
#include <vmutex.h>

#define HANDSHAKE_INSTRUCTIONS 14u

static uint32_t bit_waiters;
static bool notifying[MAX_TASKLETS]; /* waits in handshake_notify */

/*
 * Locks that are taken before another tasklet has its turn: one that asks again and again under a lock
 * whether others have done something would ask until a tick puts it aside. A try is more often a
 * question than a lock is.
 */
#define PATIENCE 256
#define OF_A_TRY 16
static int32_t patience;

static uint32_t early; /* tasklets that somebody resumed before they stopped, a bit each */

void rt_sync_begin(void)
{
    rt_acts_begin();
    early = 0;
    patience = PATIENCE;
    bit_waiters = 0;
    for (uint32_t i = 0; i < sizeof(rt_bits); i += 8)
        *(uint64_t __attribute__((may_alias)) *)&rt_bits[i] = 0;
    for (uint32_t i = 0; i < MAX_TASKLETS; i++)
        notifying[i] = false;
}

/* ---- atomic bits and mutexes: only the low byte of an address counts ---- */

/*
 * A pair of lock and unlock is all that some programs do. What is rare is in functions of its own, which are
 * called last, so that the others need no frame.
 */
#define RARE static __attribute__((noinline))

RARE void take_watched(uint32_t bit, uint64_t pc)
{
    rt_time_take(bit, pc);
    if (rt_race_on)
        rt_race_acquire(bit);
}

RARE void wait_for_bit(uint32_t bit, uint64_t pc)
{
    if (patience < 0) {
        patience = PATIENCE;
        rt_yield();
    }
    while (rt_bits[bit]) {
        bit_waiters++;
        rt_block(WAIT_MUTEX, bit, pc);
        bit_waiters--;
    }
    rt_bits[bit] = true;
    if (rt_race_on)
        rt_race_acquire(bit);
}

static inline __attribute__((always_inline)) void take_bit(uint32_t bit, uint64_t pc)
{
    if (rt_timed) {
        if (rt_race_on)
            take_watched(bit, pc);
        else
            rt_time_take(bit, pc);
    } else if (rt_bits[bit] || --patience < 0) {
        wait_for_bit(bit, pc);
    } else {
        rt_bits[bit] = true;
        if (rt_race_on)
            rt_race_acquire(bit);
    }
}

RARE void free_watched(uint32_t bit)
{
    if (rt_race_on)
        rt_race_release(bit);
    if (rt_timed) {
        rt_time_free(bit);
        return;
    }
    rt_bits[bit] = false;
    if (bit_waiters)
        rt_wake_one(WAIT_MUTEX, bit);
}

static inline __attribute__((always_inline)) void free_bit(uint32_t bit)
{
    if (rt_race_on || bit_waiters)
        free_watched(bit);
    else if (rt_timed)
        rt_time_free(bit);
    else
        rt_bits[bit] = false;
}

static bool try_bit(uint32_t bit)
{
    rt_time_event(0);
    if (!rt_timed && (patience -= OF_A_TRY) < 0) {
        patience = PATIENCE;
        rt_yield();
    }
    if (rt_bits[bit]) {
        rt_yield(); /* it will be tried again */
        return false;
    }
    rt_bits[bit] = true;
    if (rt_race_on)
        rt_race_acquire(bit);
    return true;
}

API void mutex_lock(mutex_id_t mutex)
{
    take_bit((uintptr_t)mutex & 0xff, CALLER);
}

API bool mutex_trylock(mutex_id_t mutex)
{
    return try_bit((uintptr_t)mutex & 0xff);
}

API void mutex_unlock(mutex_id_t mutex)
{
    free_bit((uintptr_t)mutex & 0xff);
}

void __rt_acquire(uint32_t bit)
{
    take_bit(bit & 0xff, CALLER);
}

/* 1 when the bit was clear */
uint32_t __rt_try_acquire(uint32_t bit)
{
    return try_bit(bit & 0xff);
}

void __rt_release(uint32_t bit)
{
    free_bit(bit & 0xff);
}

#define STOPPED 0xf2000000u /* objects of race.c: a tasklet that resumes another */
#define CONSUMED 0xf1000000u /* and one that consumes a notification */

/* A tasklet is resumed by one that counts on the DPU's turns: by then it must have come to its stop. Here
   it may be behind. It does not stop then; the SDK's library itself tries until it has stopped. */
void __rt_stop(void)
{
    if (rt_timed)
        rt_time_settle_release();
    if (early & 1u << __rt_me) {
        early &= ~(1u << __rt_me);
        rt_time_event(0);
        rt_yield();
    } else {
        rt_block(WAIT_STOPPED, __rt_me, CALLER);
    }
    if (rt_race_on)
        rt_race_acquire(STOPPED + __rt_me);
}

void __rt_resume(uint32_t tasklet)
{
    rt_time_event(0);
    if (tasklet >= MAX_TASKLETS || rt_wait[tasklet].kind == WAIT_ENDED)
        return;
    if (rt_race_on)
        rt_race_release(STOPPED + tasklet);
    if (rt_wait[tasklet].kind == WAIT_STOPPED)
        rt_wake_tasklet(tasklet);
    else
        early |= 1u << tasklet;
}

API void mutex_pool_lock(const struct mutex_pool *pool, uint16_t id)
{
    take_bit(((uintptr_t)pool->hw_mutexes + (id & pool->mask)) & 0xff, CALLER);
}

API void mutex_pool_unlock(const struct mutex_pool *pool, uint16_t id)
{
    free_bit(((uintptr_t)pool->hw_mutexes + (id & pool->mask)) & 0xff);
}

/* ---- virtual mutexes: bits in WRAM; the hardware mutexes that guard them are never contended,
 * because a tasklet is not interrupted inside the runtime ---- */

/* Tasklets do these things themselves where races are looked for, which is done when they change. The
 * search ends within a launch (race.c): who waited in one way is woken in the other. */
static inline bool in_time(void)
{
    return rt_timed && !rt_race_on;
}

static uint32_t vmutex_object(const struct vmutex *v, uint16_t id)
{
    return (uint32_t)(uintptr_t)v->vmutexes * 8u + id;
}

API void vmutex_lock(const struct vmutex *v, uint16_t id)
{
    volatile uint8_t *byte = &v->vmutexes[id >> 3];
    uint8_t bit = (uint8_t)(1u << (id & 7));
    uint32_t object = vmutex_object(v, id);
    if (in_time()) {
        rt_time_vmutex_lock(object, CALLER);
        return;
    }
    rt_time_event(VMUTEX_INSTRUCTIONS);
    while (*byte & bit) {
        rt_vmutex_waiters++;
        rt_block(WAIT_VMUTEX, object, CALLER);
    }
    *byte |= bit;
    if (rt_race_on) {
        rt_race_own(byte, 1);
        rt_race_acquire(object);
    }
}

API void vmutex_unlock(const struct vmutex *v, uint16_t id)
{
    uint32_t object = vmutex_object(v, id);
    if (in_time()) {
        rt_time_vmutex_unlock(object);
        return;
    }
    rt_time_event(VMUTEX_INSTRUCTIONS);
    if (rt_race_on)
        rt_race_release(object);
    v->vmutexes[id >> 3] &= (uint8_t)~(1u << (id & 7));
    if (rt_race_on)
        rt_race_own(&v->vmutexes[id >> 3], 1);
    if (rt_vmutex_waiters && rt_wake_one(WAIT_VMUTEX, object))
        rt_vmutex_waiters--;
}

/* ---- barriers ---- */

/*
 * In hardware time arrivals go one after the other under the barrier's lock, and the last one resumes
 * the others one by one.
 */
static void timed_arrival(barrier_t *barrier, uint64_t pc)
{
    rt_time_add(BARRIER_BEFORE);
    rt_time_take(barrier->lock, pc);
    rt_time_event(BARRIER_INSIDE);
    uint32_t waiting = barrier->count == 1 ? (uint32_t)barrier->initial_count - 1 : 0;
    rt_time_event(waiting * BARRIER_RESUME_HALVES / 2);
    rt_time_free(barrier->lock);
    rt_time_settle(); /* who is resumed, is so at this time */
}

API void barrier_wait(barrier_t *barrier)
{
    if (in_time()) {
        rt_time_barrier(barrier, CALLER);
        return;
    }
    if (rt_timed)
        timed_arrival(barrier, CALLER);
    uint32_t object = (uint32_t)(uintptr_t)barrier;
    if (rt_race_on)
        rt_race_release(object);
    if (barrier->count == 1) {
        barrier->count = barrier->initial_count;
        barrier->wait_queue = 0xff;
        rt_wake_all(WAIT_BARRIER, object);
        if (rt_race_on) {
            rt_race_own(barrier, sizeof(*barrier));
            rt_race_acquire(object);
        }
        rt_yield();
        return;
    }
    barrier->count--;
    barrier->wait_queue = (uint8_t)__rt_me;
    if (rt_race_on)
        rt_race_own(barrier, sizeof(*barrier));
    rt_block(WAIT_BARRIER, object, CALLER);
    if (rt_race_on)
        rt_race_acquire(object);
}

/* ---- semaphores ---- */

API void sem_take(sem_t *semaphore)
{
    if (in_time()) {
        rt_time_sem_take(semaphore, CALLER);
        return;
    }
    uint32_t object = (uint32_t)(uintptr_t)semaphore;
    rt_time_event(SEM_INSTRUCTIONS);
    semaphore->count--;
    if (rt_race_on)
        rt_race_own(semaphore, sizeof(*semaphore));
    if ((int8_t)semaphore->count < 0) {
        semaphore->wait_queue = (uint8_t)__rt_me;
        if (rt_race_on)
            rt_race_own(semaphore, sizeof(*semaphore));
        rt_block(WAIT_SEMAPHORE, object, CALLER);
    }
    if (rt_race_on)
        rt_race_acquire(object);
}

/* Wakes the first tasklet that waits, also while the count stays negative. */
API void sem_give(sem_t *semaphore)
{
    if (in_time()) {
        rt_time_sem_give(semaphore);
        return;
    }
    uint32_t object = (uint32_t)(uintptr_t)semaphore;
    rt_time_event(SEM_INSTRUCTIONS);
    if (rt_race_on)
        rt_race_release(object);
    semaphore->count++;
    rt_wake_one(WAIT_SEMAPHORE, object);
    if ((int8_t)semaphore->count >= 0)
        semaphore->wait_queue = 0xff;
    if (rt_race_on)
        rt_race_own(semaphore, sizeof(*semaphore));
}

/* ---- handshakes: the notifier waits until its notification is consumed ---- */

IN_WRAM("handshake") static uint8_t handshakes[MAX_TASKLETS] = {0}; /* the SDK's table */

static int already(void)
{
    return errno = EALREADY;
}

API void handshake_notify(void)
{
    uint32_t me = __rt_me;
    USES_WRAM(handshakes);
    rt_time_event(HANDSHAKE_INSTRUCTIONS);
    if (rt_race_on)
        rt_race_release(0xf0000000u + me);
    notifying[me] = true;
    rt_wake_one(WAIT_HANDSHAKE, me);
    rt_block(WAIT_NOTIFY, me, CALLER);
    if (rt_race_on)
        rt_race_acquire(CONSUMED + me);
}

/* Control goes straight to the notifier: the two advance together on a DPU. */
API int handshake_wait_for(sysname_t notifier)
{
    USES_WRAM(handshakes);
    rt_time_event(HANDSHAKE_INSTRUCTIONS);
    if (notifier >= MAX_TASKLETS)
        return already();
    if (!notifying[notifier]) {
        for (uint32_t i = 0; i < MAX_TASKLETS; i++)
            if (rt_wait[i].kind == WAIT_HANDSHAKE && rt_wait[i].object == notifier)
                return already();
        rt_block(WAIT_HANDSHAKE, notifier, CALLER);
    }
    notifying[notifier] = false;
    if (rt_race_on) {
        rt_race_acquire(0xf0000000u + notifier);
        rt_race_release(CONSUMED + notifier);
    }
    rt_wake_tasklet(notifier);
    rt_yield_to(notifier);
    return 0;
}
