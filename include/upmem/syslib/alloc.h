/* The growing heap in WRAM, and the other allocators. */
#ifndef UPMEM_SYSLIB_ALLOC_H
#define UPMEM_SYSLIB_ALLOC_H

#include <attributes.h>
#include <stddef.h>

__RT_C_BEGIN

/* 8-byte aligned; fault 1 when WRAM is full; size 0: where the next allocation would look. */
__RT_CALLED void *mem_alloc(size_t size);

/* Forgets all allocations; gives the start of the heap. */
void *mem_reset(void);

#include <buddy_alloc.h>
#include <fsb_allocator.h>

__RT_C_END

#endif
