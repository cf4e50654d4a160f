/* Barriers. The fields may be filled by hand. */
#ifndef UPMEM_SYSLIB_BARRIER_H
#define UPMEM_SYSLIB_BARRIER_H

#include <atomic_bit.h>
#include <attributes.h>
#include <dpuconst.h>
#include <limits.h>
#include <macro_utils.h>
#include <stdint.h>

__RT_C_BEGIN

typedef struct barrier_t {
    uint8_t wait_queue; /* 0xff: empty */
    uint8_t count;      /* tasklets still to come */
    uint8_t initial_count;
    uint8_t lock; /* number of an atomic bit */
} barrier_t;

#define BARRIER_INIT(_name, _counter) \
    _Static_assert((_counter) < 128 && (_counter) >= -127, "barrier counter must be on 8 bits"); \
    barrier_t _name = { 0xff, (uint8_t)(_counter), (uint8_t)(_counter), 0 };

/* Waits until `initial_count` tasklets have called it. */
__RT_CALLED void barrier_wait(barrier_t *barrier);

__RT_C_END

#endif
