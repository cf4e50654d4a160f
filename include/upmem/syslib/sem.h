/* Counting semaphores. */
#ifndef UPMEM_SYSLIB_SEM_H
#define UPMEM_SYSLIB_SEM_H

#include <atomic_bit.h>
#include <attributes.h>
#include <dpuconst.h>
#include <limits.h>
#include <macro_utils.h>
#include <stdint.h>

__RT_C_BEGIN

typedef struct sem_t {
    uint8_t wait_queue;
    uint8_t count; /* signed: below 0, tasklets wait */
    uint8_t initial_count;
    uint8_t lock;
} sem_t;

#define SEMAPHORE_INIT(_name, _counter) \
    _Static_assert((_counter) < 128 && (_counter) >= -127, "semaphore counter must be on 8 bits"); \
    sem_t _name = { 0xff, (uint8_t)(_counter), (uint8_t)(_counter), 0 };

__RT_CALLED void sem_take(sem_t *sem);
void sem_give(sem_t *sem);

__RT_C_END

#endif
