/* A DPU program as plain C with threads: what benchmarks/upmem_plain.py measures against. */
#ifndef PLAIN_DEFS_H
#define PLAIN_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define __mram_ptr
#define __mram
#define __host __attribute__((section("wram_host"))) /* the host and each DPU have their own copy */
#define __dma_aligned __attribute__((aligned(8)))

typedef unsigned int sysname_t;
extern __thread unsigned int plain_me;

static inline sysname_t me(void)
{
    return plain_me;
}

#endif
