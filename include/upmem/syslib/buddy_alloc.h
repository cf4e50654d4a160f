/* Buddy allocator: powers of two from 16 bytes. */
#ifndef UPMEM_SYSLIB_BUDDY_ALLOC_H
#define UPMEM_SYSLIB_BUDDY_ALLOC_H

#include <attributes.h>
#include <stddef.h>

__RT_C_BEGIN

__RT_CALLED void buddy_init(size_t size_of_heap);

/* NULL and errno EINVAL or ENOMEM when it fails. */
void *buddy_alloc(size_t size);
void buddy_free(void *pointer);
void *buddy_realloc(void *pointer, size_t size);
void buddy_reset(void);

__RT_C_END

#endif
