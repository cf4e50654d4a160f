/*
 * The memory of the DPU that runs, where the program was linked, and of those that ran before.
 *
 * Mapping the pages that a DPU uses costs 0.4 to 1.2 us each, unmapping them a third of that. Of a DPU
 * that moved much, the mapping is set aside with all its pages, and comes back when that DPU runs here
 * again. Workers take such DPUs first.
 */
#include "rt.h"

enum { MUCH = 1 << 20, SLOTS = 65536 };
#define ASIDE 0x100000000000u /* addresses that nobody uses; a place for each slot */
#define ASIDE_WRITTEN (ASIDE + (uint64_t)SLOTS * MRAM_SIZE)
#define WRITTEN_SIZE (SLOT_END - SLOT_WRITTEN)
#define NONE 0xffffffffu

bool rt_written_mapped;
uint32_t rt_moved[MRAM_SIZE >> RT_BLOCK_BITS];

static int machine_file;
static uint64_t stride, slot_start; /* in the machine file */
static uint32_t mapped = NONE;      /* the slot whose memory is in place */
static uint32_t aside;              /* how many are set aside */
static uint8_t is_aside[SLOTS];     /* 1: the MRAM; 2: the map of written words too */

void rt_slots_begin(int file, uint64_t bytes)
{
    machine_file = file;
    stride = bytes;
}

bool rt_slots_known(void)
{
    return aside != 0 || mapped != NONE;
}

bool rt_slot_known(uint32_t slot)
{
    return slot == mapped || (slot < SLOTS && is_aside[slot]);
}

static void map(uint32_t address, uint32_t size, uint64_t offset)
{
    int64_t result = rt_syscall(9 /* mmap */, address, size, 3 /* READ | WRITE */,
        0x11 /* FIXED | SHARED */, (uint64_t)machine_file, slot_start + offset);
    if (result != (int64_t)address)
        rt_exit(120);
}

static bool move(uint64_t from, uint64_t to, uint64_t size)
{
    return rt_syscall(25 /* mremap */, from, size, size, 3 /* MAYMOVE | FIXED */, to, 0)
        == (int64_t)to;
}

static bool moved_much(void)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < MRAM_SIZE >> RT_BLOCK_BITS && bytes < MUCH; i++)
        bytes += rt_moved[i] < MUCH ? rt_moved[i] : MUCH;
    return bytes >= MUCH;
}

static void set_aside(void)
{
    if (mapped >= SLOTS || !moved_much()
        || !move(MRAM_BASE, ASIDE + (uint64_t)mapped * MRAM_SIZE, MRAM_SIZE))
        return; /* it is unmapped by what is mapped next */
    is_aside[mapped] = 1;
    aside++;
    if (rt_written_mapped
        && move(WRITTEN_BASE, ASIDE_WRITTEN + (uint64_t)mapped * WRITTEN_SIZE, WRITTEN_SIZE))
        is_aside[mapped] = 2;
}

void rt_slot_map(uint32_t slot)
{
    if (slot == mapped)
        return;
    if (mapped != NONE)
        set_aside();
    slot_start = slot * stride;
    uint8_t there = slot < SLOTS ? is_aside[slot] : 0;
    rt_written_mapped = false;
    if (there) {
        is_aside[slot] = 0;
        aside--;
    }
    map(WRAM_BASE, WRAM_SIZE, SLOT_WRAM);
    if (!there || !move(ASIDE + (uint64_t)slot * MRAM_SIZE, MRAM_BASE, MRAM_SIZE))
        map(MRAM_BASE, MRAM_SIZE, SLOT_MRAM);
    if (there == 2)
        rt_written_mapped = move(ASIDE_WRITTEN + (uint64_t)slot * WRITTEN_SIZE, WRITTEN_BASE,
            WRITTEN_SIZE);
    mapped = slot;
}

/* Apart from the DPU's own memories, because a kernel without DMA needs no map. */
void rt_map_written(void)
{
    map(WRITTEN_BASE, WRITTEN_SIZE, SLOT_WRITTEN);
    rt_written_mapped = true;
}

/* What is not mapped of the slot that runs. */
bool rt_slot_read(uint32_t offset, void *to, uint32_t size)
{
    return rt_syscall(17 /* pread64 */, (uint64_t)machine_file, (uintptr_t)to, size,
               slot_start + offset, 0, 0)
        == (int64_t)size;
}

void rt_slot_write(uint32_t offset, const void *from, uint32_t size)
{
    rt_syscall(18 /* pwrite64 */, (uint64_t)machine_file, (uintptr_t)from, size,
        slot_start + offset, 0, 0);
}
