/* A few hardware mutexes for many ids. */
#ifndef UPMEM_SYSLIB_MUTEX_POOL_H
#define UPMEM_SYSLIB_MUTEX_POOL_H

#include <assert.h>
#include <atomic_bit.h>
#include <attributes.h>
#include <mutex.h>
#include <stdint.h>

__RT_C_BEGIN

struct mutex_pool {
    uint8_t *hw_mutexes;
    uint16_t mask;
};

#define MUTEX_POOL_INIT(NAME, NB_MUTEXES) \
    _Static_assert((NB_MUTEXES) > 0 && (NB_MUTEXES) <= 64 \
            && ((NB_MUTEXES) & ((NB_MUTEXES)-1)) == 0, \
        "the number of mutexes must be a power of 2 of at most 64"); \
    ATOMIC_BIT_INIT(__CONCAT(__mutex_pool_, NAME))[NB_MUTEXES]; \
    const struct mutex_pool NAME \
        = { ATOMIC_BIT_GET(__CONCAT(__mutex_pool_, NAME)), (NB_MUTEXES)-1 }

__RT_CALLED void mutex_pool_lock(const struct mutex_pool *mp, uint16_t mutex_id);
void mutex_pool_unlock(const struct mutex_pool *mp, uint16_t mutex_id);

__RT_C_END

#endif
