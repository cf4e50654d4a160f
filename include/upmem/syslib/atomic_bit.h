/* The 256 atomic bits. The address of a bit's variable holds its number in the low byte. */
#ifndef UPMEM_SYSLIB_ATOMIC_BIT_H
#define UPMEM_SYSLIB_ATOMIC_BIT_H

#include <attributes.h>
#include <macro_utils.h>
#include <stdint.h>

__RT_C_BEGIN

#define ATOMIC_BIT_GET(_name) __CONCAT(__atomic_bit_, _name)
#define ATOMIC_BIT_INIT(_name) uint8_t __atomic_bit ATOMIC_BIT_GET(_name)
#define ATOMIC_BIT_EXTERN(_name) extern ATOMIC_BIT_INIT(_name)
#define ATOMIC_BIT_INDEX(_name) ((uint8_t)(&ATOMIC_BIT_GET(_name) - &__atomic_start_addr))

extern uint8_t __atomic_start_addr;

void __rt_acquire(uint32_t bit);
void __rt_release(uint32_t bit);

/* Waits until the bit is clear, then sets it; clears it. */
#define ATOMIC_BIT_ACQUIRE(_name) __rt_acquire((uint32_t)(uintptr_t)&ATOMIC_BIT_GET(_name))
#define ATOMIC_BIT_RELEASE(_name) __rt_release((uint32_t)(uintptr_t)&ATOMIC_BIT_GET(_name))

/* The bit whose number is the sum of both. */
#define __ATOMIC_BIT_ACQUIRE(_number, _bit) __rt_acquire((uint32_t)(_number) + (uint32_t)(_bit))
#define __ATOMIC_BIT_RELEASE(_number, _bit) __rt_release((uint32_t)(_number) + (uint32_t)(_bit))

__RT_C_END

#endif
