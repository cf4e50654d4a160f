/* MRAM accesses of any alignment, safe between tasklets. */
#ifndef UPMEM_SYSLIB_MRAM_UNALIGNED_H
#define UPMEM_SYSLIB_MRAM_UNALIGNED_H

#include <attributes.h>
#include <mram.h>
#include <stdint.h>
#include <vmutex.h>

__RT_C_BEGIN

#ifndef __MRAM_UNALIGNED_ACCESS_LOG_NB_VLOCK
#define __MRAM_UNALIGNED_ACCESS_LOG_NB_VLOCK 11
#endif

/* `buffer` is 8-byte aligned and 16 bytes larger than the data; gives where the data starts. */
__RT_CALLED void *mram_read_unaligned(const __mram_ptr void *from, void *buffer, unsigned int nb_of_bytes);

/* Both addresses have the same remainder modulo 8, else fault 8. */
__RT_CALLED void mram_write_unaligned(const void *from, __mram_ptr void *dest, unsigned int nb_of_bytes);

__RT_CALLED void mram_update_int_atomic(
    __mram_ptr int *dest, void (*update_func)(int *value, void *args), void *args);
__RT_CALLED void mram_write_int_atomic(__mram_ptr int *dest, int val);
__RT_CALLED void mram_update_byte_atomic(
    __mram_ptr uint8_t *dest, void (*update_func)(uint8_t *value, void *args), void *args);
__RT_CALLED void mram_write_byte_atomic(__mram_ptr uint8_t *dest, uint8_t val);

__RT_C_END

#endif
