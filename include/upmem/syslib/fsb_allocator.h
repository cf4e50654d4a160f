/* Blocks of one size. */
#ifndef UPMEM_SYSLIB_FSB_ALLOCATOR_H
#define UPMEM_SYSLIB_FSB_ALLOCATOR_H

#include <attributes.h>

__RT_C_BEGIN

typedef void **fsb_allocator_t;

__RT_CALLED fsb_allocator_t fsb_alloc(unsigned int block_size, unsigned int nb_of_blocks);

/* NULL when all blocks are taken. */
void *fsb_get(fsb_allocator_t allocator);
void fsb_free(fsb_allocator_t allocator, void *ptr);

__RT_C_END

#endif
