/*
 * The file that holds the memories of all DPUs, as this process maps it, and large pages in it.
 *
 * A page of 4 KiB in such a file costs 2.5 us at its first use, and 0.4 to 1.2 us more whenever a
 * worker maps it for a launch; a large page costs an eighth for the same bytes and nothing later.
 * Systems do not give large pages to such files by themselves, but they do when asked for a block
 * (MADV_COLLAPSE, Linux 6.1). Asked for is what is used to a quarter, so that what a DPU uses here
 * and there does not grow more than fourfold, and what does not have most of its small pages yet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "native/dpu_native.h"
#include "native/native.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { BLOCK = 2 << 20, ENOUGH = BLOCK / 4, PAGE = 4096, PAGES = BLOCK / PAGE };
enum { MOVED_OFFSET = 0x4010f00, TRIED_OFFSET = 0x4010ffc };

static int refused; /* the system knows no such request, or has no large page left */

uint64_t sim_dpu_map(int file, uint64_t size)
{
    /* Large pages need addresses that are as aligned as the places in the file. */
    uint8_t *room = mmap(NULL, size + BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                         -1, 0);
    if (room == MAP_FAILED) {
        return 0;
    }
    uint8_t *start = (uint8_t *)(((uintptr_t)room + BLOCK - 1) & -(uintptr_t)BLOCK);
    if (mmap(start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0) ==
        MAP_FAILED) {
        int why = errno;
        munmap(room, size + BLOCK);
        errno = why;
        return 0;
    }
    if (start != room) {
        munmap(room, (size_t)(start - room));
    }
    if (start != room + BLOCK) {
        munmap(start + size, (size_t)(room + BLOCK - start));
    }
    return (uint64_t)(uintptr_t)start;
}

void sim_dpu_unmap(uint64_t address, uint64_t size)
{
    munmap((void *)(uintptr_t)address, size);
}

/* Pages of a block that exist. */
static size_t resident(uint8_t *start)
{
    unsigned char pages[PAGES];
    size_t count = 0;
    if (mincore(start, BLOCK, pages) != 0) {
        return PAGES;
    }
    for (size_t i = 0; i < PAGES; i++) {
        count += pages[i] & 1;
    }
    return count;
}

static void ask(uint8_t *start)
{
    (void)*(volatile uint8_t *)start; /* only what has a page of some size can be collapsed */
    if (madvise(start, BLOCK, MADV_COLLAPSE) != 0 && errno != EAGAIN && errno != EBUSY) {
        __atomic_store_n(&refused, 1, __ATOMIC_RELAXED);
    }
}

/* `size` more bytes of one block are about to be written. */
static void use(uint8_t *slot, uint64_t block, uint64_t size)
{
    uint32_t *tried = (uint32_t *)(slot + TRIED_OFFSET), bit = 1u << block; /* workers set it too */
    uint32_t *moved = (uint32_t *)(slot + MOVED_OFFSET) + block;
    uint32_t before = __atomic_fetch_add(moved, (uint32_t)size, __ATOMIC_RELAXED);
    if (before / ENOUGH == (before + size) / ENOUGH ||
        (__atomic_load_n(tried, __ATOMIC_RELAXED) & bit) != 0) {
        return;
    }
    size_t there = resident(slot + block * BLOCK);
    if (size < ENOUGH && there < PAGES / 4 - 1) {
        return; /* the same few bytes again and again */
    }
    if ((__atomic_fetch_or(tried, bit, __ATOMIC_RELAXED) & bit) == 0 && there < PAGES / 2) {
        ask(slot + block * BLOCK);
    }
}

void sim_dpu_large_pages(uint8_t *slot, uint64_t offset, uint64_t size)
{
    if (offset >= SIM_MRAM_SIZE || __atomic_load_n(&refused, __ATOMIC_RELAXED)) {
        return;
    }
    for (uint64_t end = offset + size; offset < end;) {
        uint64_t block = offset / BLOCK, next = (block + 1) * BLOCK;
        uint64_t part = (next < end ? next : end) - offset;
        use(slot, block, part);
        offset += part;
    }
}
