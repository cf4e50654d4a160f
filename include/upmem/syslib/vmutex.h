/* Virtual mutexes: a bit each in WRAM. */
#ifndef UPMEM_SYSLIB_VMUTEX_H
#define UPMEM_SYSLIB_VMUTEX_H

#include <assert.h>
#include <atomic_bit.h>
#include <attributes.h>
#include <mutex.h>
#include <stdint.h>

__RT_C_BEGIN

struct vmutex {
    uint8_t *vmutexes;
    uint8_t *hw_mutexes;
    uint16_t mask;
};

#define VMUTEX_INIT(NAME, NB_VMUTEXES, NB_HW_MUTEXES) \
    _Static_assert((NB_VMUTEXES) % 8 == 0, "the number of virtual mutexes must be a multiple of 8"); \
    _Static_assert((NB_HW_MUTEXES) > 0 && (NB_HW_MUTEXES) <= 64 \
            && ((NB_HW_MUTEXES) & ((NB_HW_MUTEXES)-1)) == 0, \
        "the number of mutexes must be a power of 2 of at most 64"); \
    uint8_t __CONCAT(__vmutex_, NAME)[(NB_VMUTEXES) >> 3] = { 0 }; \
    ATOMIC_BIT_INIT(__CONCAT(__vmutex_hw_, NAME))[NB_HW_MUTEXES]; \
    const struct vmutex NAME = { __CONCAT(__vmutex_, NAME), \
        ATOMIC_BIT_GET(__CONCAT(__vmutex_hw_, NAME)), (NB_HW_MUTEXES)-1 }

__RT_CALLED void vmutex_lock(const struct vmutex *vm, uint16_t vmutex_id);
void vmutex_unlock(const struct vmutex *vm, uint16_t vmutex_id);

__RT_C_END

#endif
