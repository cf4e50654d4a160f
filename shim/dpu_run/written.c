/*
 * The words of MRAM that somebody has written, a bit each, and reads of others.
 *
 * A transfer that brings words that nobody wrote is no mistake yet: whole blocks are moved where a part is
 * used, and the next one is fetched before anybody knows that there is none. A program that tells its
 * accesses shows what it uses (unwritten.c). Of another one only transfers are seen, so what speaks against
 * it is a place in the program at which all transfers of the launch brought nothing but such words: a
 * buffer that was never filled. With the check at `fault` the first one stops the DPU, because later it
 * would not be there to look at.
 */
#include "written.h"

#define SITES 64u

const struct unwritten *rt_unwritten;

/* Places of transfers: in a place that two of them share neither is told. */
static struct site {
    uint64_t pc;
    bool fine;
    struct dpu_event first;
} sites[SITES];
static bool sites_used;

void rt_mark_written(uint32_t offset, uint32_t size)
{
    if (!rt_written_mapped)
        rt_map_written();
    uint32_t word = offset >> 3, count = size >> 3, bit = word & 63;
    uint64_t *map = (uint64_t *)(uintptr_t)WRITTEN_BASE + (word >> 6);
    while (count) {
        uint32_t here = 64 - bit < count ? 64 - bit : count;
        uint64_t mask = (here == 64 ? ~0ull : (1ull << here) - 1) << bit;
        if ((*map & mask) != mask)
            *map |= mask;
        map++;
        count -= here;
        bit = 0;
    }
}

/* No word of it was written by DMA or host, and none holds anything (a store through a pointer). */
bool rt_never_written(uint32_t offset, uint32_t size)
{
    if (!rt_written_mapped)
        rt_map_written();
    uint32_t word = offset >> 3, count = size >> 3, bit = word & 63;
    const uint64_t *map = (const uint64_t *)(uintptr_t)WRITTEN_BASE + (word >> 6);
    while (count) {
        uint32_t here = 64 - bit < count ? 64 - bit : count;
        uint64_t mask = (here == 64 ? ~0ull : (1ull << here) - 1) << bit;
        if (*map & mask)
            return false;
        map++;
        count -= here;
        bit = 0;
    }
    const uint64_t *data = (const uint64_t *)(uintptr_t)(MRAM_BASE + offset);
    for (uint32_t i = 0; i < size >> 3; i++)
        if (data[i])
            return false;
    return true;
}

void rt_written_begin(void)
{
    rt_unwritten = NULL;
    for (uint32_t i = 0; i < SITES && sites_used; i++)
        sites[i].pc = 0;
    sites_used = false;
}

static void read_at(struct site *site, uint32_t offset, uintptr_t wram, uint32_t size, uint64_t pc)
{
    bool never = rt_never_written(offset, size);
    if (never && rt_check(CHECK_MRAM_UNWRITTEN) == CHECK_FAULT)
        rt_report(CHECK_MRAM_UNWRITTEN, FAULT_UNWRITTEN, pc, offset, size, wram);
    if (site->pc == 0) {
        sites_used = true;
        site->pc = pc;
        site->fine = !never;
        if (never)
            rt_describe(&site->first, FAULT_UNWRITTEN, pc, offset, size, wram);
    }
    if (!never || site->pc != pc)
        site->fine = true;
}

void rt_written_read(uint32_t offset, uintptr_t wram, uint32_t size, uint64_t pc)
{
    if (rt_check(CHECK_MRAM_UNWRITTEN) == CHECK_OFF)
        return;
    if (rt_unwritten) {
        rt_unwritten->loaded(offset, wram, size);
        return;
    }
    struct site *site = &sites[((uint32_t)pc * 2654435761u) >> 26];
    if (site->pc != pc || !site->fine || rt_check(CHECK_MRAM_UNWRITTEN) == CHECK_FAULT)
        read_at(site, offset, wram, size, pc);
}

void rt_written_end(void)
{
    for (uint32_t i = 0; i < SITES && sites_used; i++)
        if (sites[i].pc && !sites[i].fine)
            rt_warn_event(&sites[i].first);
}
