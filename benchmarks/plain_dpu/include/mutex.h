#ifndef PLAIN_MUTEX_H
#define PLAIN_MUTEX_H

#include <atomic_bit.h>

typedef uint8_t *mutex_id_t;

#define MUTEX_GET(name) (&ATOMIC_BIT_GET(name))
#define MUTEX_INIT(name) \
    ATOMIC_BIT_INIT(name); \
    const mutex_id_t name = MUTEX_GET(name)

void mutex_lock(mutex_id_t mutex);
void mutex_unlock(mutex_id_t mutex);

#endif
