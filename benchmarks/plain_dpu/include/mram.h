#ifndef PLAIN_MRAM_H
#define PLAIN_MRAM_H

#include <defs.h>
#include <string.h>

#define DPU_MRAM_HEAP_POINTER ((void *)0x40000000) /* 32 bits, as programs expect */

static inline void mram_read(const void *from, void *to, unsigned int size)
{
    memcpy(to, from, size);
}

static inline void mram_write(const void *from, void *to, unsigned int size)
{
    memcpy(to, from, size);
}

#endif
