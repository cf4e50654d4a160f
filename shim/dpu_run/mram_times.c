/*
 * Time of what the DPU's compiler makes of variables in MRAM, memcpy and memset. Counted programs call
 * it in front of the access (toolchain/mram_costs.py); nothing is moved here.
 *
 * The compiler reads a variable in MRAM through a word of WRAM; one of less than 8 bytes is written by
 * reading, changing and writing its word. memcpy with MRAM goes word by word through WRAM, too.
 * Instructions of its loops follow from the library's source, and fit hardware (docs/timing.md).
 */
#include "times.h"

#define WORD 8u
#define COPY_BETWEEN 6u /* instructions a word beside the transfers: MRAM to MRAM */
#define COPY_ONE 5u     /* MRAM to WRAM, or back */
#define FILL 4u
#define OUTSIDE 23u

enum access { READS = 1, WRITES = 2 };

void __rt_mram_variable(uint32_t address, uint32_t access)
{
    if (!rt_timed)
        return;
    uint32_t offset = address & (MRAM_SIZE - WORD);
    rt_time_settle();
    if (access & READS)
        rt_time_dma(offset, WORD, false);
    if (access & WRITES)
        rt_time_dma(offset, WORD, true);
}

static bool in_mram(uint32_t address)
{
    return address - MRAM_BASE < MRAM_SIZE;
}

/* `each`: instructions beside the transfers; an end that is no whole word is read before. */
static void word_by_word(uint32_t to, uint32_t from, uint32_t size, uint32_t each)
{
    bool reads = in_mram(from), writes = in_mram(to);
    uint32_t head = (writes ? to : from) & (WORD - 1);
    rt_time_add(OUTSIDE);
    for (uint32_t done = 0; done < head + size; done += WORD) {
        bool part = writes && ((done == 0 && head) || head + size - done < WORD);
        rt_time_event(each + reads + writes + part);
        if (part)
            rt_time_dma((to - head + done) & (MRAM_SIZE - WORD), WORD, false);
        if (reads)
            rt_time_dma((from - head + done) & (MRAM_SIZE - WORD), WORD, false);
        if (writes)
            rt_time_dma((to - head + done) & (MRAM_SIZE - WORD), WORD, true);
    }
}

void __rt_copied(uint32_t to, uint32_t from, uint32_t size)
{
    if (!rt_timed)
        return;
    if (!in_mram(to) && !in_mram(from))
        rt_time_add(OUTSIDE + size * 5 / 4);
    else
        word_by_word(to, from, size, in_mram(to) && in_mram(from) ? COPY_BETWEEN : COPY_ONE);
}

void __rt_filled(uint32_t to, uint32_t size)
{
    if (!rt_timed)
        return;
    if (in_mram(to))
        word_by_word(to, 0, size, FILL);
    else
        rt_time_add(15 + size * 3 / 4);
}
