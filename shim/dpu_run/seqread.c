/*
 * Sequential reader: two pages of MRAM in WRAM, moved on when a page has been passed. An item may
 * lie across the two pages. Reading ahead past what was written is normal and not reported.
 */
#include "times.h"

#include <alloc.h>
#include <seqread.h>

/* Instructions of the library's routines, as its disassembly has them. */
#define INIT 10u
#define GET 2u
#define REFILL 6u
#define TELL 4u

void rt_mram_load(uint32_t from, void *to, uint32_t size);

seqreader_buffer_t __rt_seqread_alloc(uint32_t page)
{
    uintptr_t start = (uintptr_t)mem_alloc(0);
    uintptr_t aligned = (start + page - 1) & ~(uintptr_t)(page - 1);
    mem_alloc(aligned - start + 2 * page);
    return aligned;
}

static void load(seqreader_t *reader, uint32_t page)
{
    rt_mram_load((uint32_t)reader->mram_addr, (void *)reader->wram_cache, 2 * page);
    rt_yield();
}

void *__rt_seqread_init(
    seqreader_buffer_t cache, uint32_t address, seqreader_t *reader, uint32_t page)
{
    rt_time_add(INIT);
    reader->wram_cache = cache;
    reader->mram_addr = address & ~(page - 1);
    load(reader, page);
    return (uint8_t *)cache + (address & (page - 1));
}

void *__rt_seqread_get(void *item, uint32_t increment, seqreader_t *reader, uint32_t page)
{
    uint8_t *next = (uint8_t *)item + increment;
    rt_time_add(GET);
    uintptr_t position = (uintptr_t)next - reader->wram_cache;
    if (position < page)
        return next;
    rt_time_add(REFILL);
    uint32_t pages = (uint32_t)position / page;
    reader->mram_addr += pages * page;
    load(reader, page);
    return next - pages * page;
}

void *__rt_seqread_seek(uint32_t address, seqreader_t *reader, uint32_t page)
{
    uint32_t wanted = address & ~(page - 1);
    rt_time_add(INIT);
    if (wanted != reader->mram_addr) {
        reader->mram_addr = wanted;
        load(reader, page);
    }
    return (uint8_t *)reader->wram_cache + (address & (page - 1));
}

uint32_t __rt_seqread_tell(void *item, seqreader_t *reader)
{
    rt_time_add(TELL);
    return (uint32_t)reader->mram_addr + (uint32_t)((uintptr_t)item - reader->wram_cache);
}
