/* DMA between MRAM and WRAM. */
#ifndef UPMEM_SYSLIB_MRAM_H
#define UPMEM_SYSLIB_MRAM_H

#include <attributes.h>
#include <dpu_characteristics.h>
#include <limits.h>
#include <stdint.h>

__RT_C_BEGIN

extern __mram_ptr uint8_t __sys_used_mram_end[];
#define DPU_MRAM_HEAP_POINTER ((__mram_ptr void *)(&__sys_used_mram_end[0]))

#ifdef __clang__
#define __RT_DMA_SIZE(n) \
    __attribute__((diagnose_if((n) < 8 || (n) > 2048 || (n) % 8 != 0, \
        "a transfer moves 8 to 2048 bytes, a multiple of 8", "error")))
#else
#define __RT_DMA_SIZE(n)
#endif

/* Addresses and size must be multiples of 8; 8 to 2048 bytes. */
__RT_CALLED void mram_read(const __mram_ptr void *from, void *to, unsigned int nb_of_bytes)
    __RT_DMA_SIZE(nb_of_bytes);
__RT_CALLED void mram_write(const void *from, __mram_ptr void *to, unsigned int nb_of_bytes)
    __RT_DMA_SIZE(nb_of_bytes);

__RT_C_END

#endif
