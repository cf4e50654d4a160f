/* Mutexes: each is an atomic bit. Not recursive, not owned. NULL is bit 0. */
#ifndef UPMEM_SYSLIB_MUTEX_H
#define UPMEM_SYSLIB_MUTEX_H

#include <atomic_bit.h>
#include <attributes.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysdef.h>

__RT_C_BEGIN

typedef uint8_t *mutex_id_t;

#define MUTEX_GET(_name) (&ATOMIC_BIT_GET(_name))
#define MUTEX_INIT(_name) \
    ATOMIC_BIT_INIT(_name); \
    const mutex_id_t _name = MUTEX_GET(_name)

__RT_CALLED void mutex_lock(mutex_id_t mutex);

/* True when it took the mutex. */
bool mutex_trylock(mutex_id_t mutex);
void mutex_unlock(mutex_id_t mutex);

__RT_C_END

#endif
