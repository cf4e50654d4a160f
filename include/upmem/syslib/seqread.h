/* Reads MRAM item after item. */
#ifndef UPMEM_SYSLIB_SEQREAD_H
#define UPMEM_SYSLIB_SEQREAD_H

#include <attributes.h>
#include <macro_utils.h>
#include <mram.h>
#include <stdint.h>

__RT_C_BEGIN

#ifndef SEQREAD_CACHE_SIZE
#define SEQREAD_CACHE_SIZE 256
#endif

_Static_assert(SEQREAD_CACHE_SIZE == 32 || SEQREAD_CACHE_SIZE == 64 || SEQREAD_CACHE_SIZE == 128
        || SEQREAD_CACHE_SIZE == 256 || SEQREAD_CACHE_SIZE == 512 || SEQREAD_CACHE_SIZE == 1024,
    "SEQREAD_CACHE_SIZE must be 32, 64, 128, 256, 512 or 1024");

typedef uintptr_t seqreader_buffer_t;

typedef struct {
    seqreader_buffer_t wram_cache;
    uintptr_t mram_addr;
} seqreader_t;

seqreader_buffer_t __rt_seqread_alloc(uint32_t page);
void *__rt_seqread_init(
    seqreader_buffer_t cache, uint32_t address, seqreader_t *reader, uint32_t page);
void *__rt_seqread_get(void *item, uint32_t increment, seqreader_t *reader, uint32_t page);
void *__rt_seqread_seek(uint32_t address, seqreader_t *reader, uint32_t page);
uint32_t __rt_seqread_tell(void *item, seqreader_t *reader);

/* A buffer of two pages on the heap. */
static inline seqreader_buffer_t seqread_alloc(void)
{
    return __rt_seqread_alloc(SEQREAD_CACHE_SIZE);
}

/* Gives the first item. */
static inline void *seqread_init(
    seqreader_buffer_t cache, __mram_ptr void *mram_addr, seqreader_t *reader)
{
    return __rt_seqread_init(cache, (uint32_t)(uintptr_t)mram_addr, reader, SEQREAD_CACHE_SIZE);
}

/* Gives the item `inc` bytes after `ptr`; inc is less than the page. */
static inline void *seqread_get(void *ptr, uint32_t inc, seqreader_t *reader)
{
    return __rt_seqread_get(ptr, inc, reader, SEQREAD_CACHE_SIZE);
}

static inline void *seqread_seek(__mram_ptr void *mram_addr, seqreader_t *reader)
{
    return __rt_seqread_seek((uint32_t)(uintptr_t)mram_addr, reader, SEQREAD_CACHE_SIZE);
}

static inline __mram_ptr void *seqread_tell(void *ptr, seqreader_t *reader)
{
    return (__mram_ptr void *)(uintptr_t)__rt_seqread_tell(ptr, reader);
}

__RT_C_END

#endif
