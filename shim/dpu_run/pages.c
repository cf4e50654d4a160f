/*
 * Large pages for the MRAM that a kernel uses much of: where the host did not ask for them, the worker
 * does, with the same measure and for the same reason (shim/native/dpu_memory.c).
 */
#include "rt.h"

void rt_pages_begin(void)
{
    for (uint32_t i = 0; i < MRAM_SIZE >> RT_BLOCK_BITS; i++)
        rt_moved[i] = 0;
}

static uint32_t resident(uint32_t start)
{
    static uint8_t pages[1 << (RT_BLOCK_BITS - 12)];
    uint32_t count = 0;
    if (rt_syscall(27 /* mincore */, start, 1u << RT_BLOCK_BITS, (uintptr_t)pages, 0, 0, 0) != 0)
        return sizeof(pages);
    for (uint32_t i = 0; i < sizeof(pages); i++)
        count += pages[i] & 1;
    return count;
}

/* Called whenever another quarter of a block's size was moved. */
void rt_pages_ask(uint32_t block)
{
    enum { SLOW_NS = 1500000, LONGEST_PAUSE = 64 };
    static uint32_t left_out, pause = 1;
    static bool refused;
    uint32_t tried = 0, bit = 1u << block, all = 1u << (RT_BLOCK_BITS - 12);
    uint32_t start = MRAM_BASE + (block << RT_BLOCK_BITS);
    if (refused || !rt_slot_read(SLOT_LARGE, &tried, sizeof tried) || tried & bit)
        return;
    uint32_t there = resident(start);
    if (there < all / 4 - 1)
        return; /* the same few bytes again and again */
    tried |= bit;
    rt_slot_write(SLOT_LARGE, &tried, sizeof tried);
    if (there >= all / 2)
        return;
    if (left_out) {
        left_out--;
        return;
    }
    uint64_t begin = rt_cpu_time_ns();
    int64_t answer = rt_syscall(28 /* madvise */, start, 1u << RT_BLOCK_BITS,
        25 /* MADV_COLLAPSE */, 0, 0, 0);
    refused = answer != 0 && answer != -11 /* EAGAIN */ && answer != -16 /* EBUSY */;
    if (rt_cpu_time_ns() - begin < SLOW_NS)
        pause = 1;
    else
        left_out = pause = pause < LONGEST_PAUSE ? pause * 2 : pause;
}
