/*
 * The file that holds the memories of all DPUs, as this process maps it, and large pages in it.
 *
 * A page of 4 KiB in such a file costs 2.5 us at its first use, and 0.4 to 1.2 us more whenever a
 * worker maps it for a launch; a large page costs an eighth for the same bytes and nothing later.
 * Systems do not give large pages to such files by themselves, but they do when asked for a block
 * (MADV_COLLAPSE, Linux 6.1). Asked for is what is used to a quarter, so that what a DPU uses here
 * and there does not grow more than fourfold, and what does not have most of its small pages yet.
 *
 * In a virtual machine whose host has to find the memory first, a large page may cost more than its
 * small ones, which come from what was used a moment ago. So the time of each is looked at.
 *
 * Bytes for small pages that are not there yet are written to the file: the system then neither
 * clears the pages before nor is called for each of them, which halves what they cost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dpu_run/protocol.h"
#include "native/dpu_native.h"
#include "native/native.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { BLOCK = 2 << 20, ENOUGH = BLOCK / 4, PAGE = 4096, PAGES = BLOCK / PAGE };

static int refused; /* the system knows no such request, or has no large page left */

/* The files that are mapped here, each with a descriptor of our own. */
struct mapped {
    uint64_t base;
    int file;
    dev_t device;
    ino_t number;
    struct mapped *next;
};

static struct mapped *files;
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

static void remember(uint64_t base, int file)
{
    struct stat about;
    struct mapped *entry = malloc(sizeof *entry);
    int own = entry != NULL ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0 || fstat(own, &about) != 0) {
        if (own >= 0) {
            close(own);
        }
        free(entry);
        return; /* what needs the file does without */
    }
    *entry = (struct mapped){base, own, about.st_dev, about.st_ino, NULL};
    pthread_mutex_lock(&files_lock);
    entry->next = files;
    files = entry;
    pthread_mutex_unlock(&files_lock);
}

static int same(const struct mapped *entry)
{
    struct stat about;
    return fstat(entry->file, &about) == 0 && about.st_dev == entry->device &&
           about.st_ino == entry->number;
}

static void forget(uint64_t base)
{
    pthread_mutex_lock(&files_lock);
    for (struct mapped **link = &files; *link != NULL; link = &(*link)->next) {
        struct mapped *entry = *link;
        if (entry->base == base) {
            *link = entry->next;
            if (same(entry)) { /* a program that closed it may have its own there now */
                close(entry->file);
            }
            free(entry);
            break;
        }
    }
    pthread_mutex_unlock(&files_lock);
}

int sim_dpu_file(uint64_t base)
{
    struct rlimit largest; /* a write beyond it is a signal */
    int found = -1;
    if (getrlimit(RLIMIT_FSIZE, &largest) != 0 || largest.rlim_cur != RLIM_INFINITY ||
        pthread_mutex_trylock(&files_lock) != 0) { /* a forked child may find it locked for ever */
        return -1;
    }
    for (const struct mapped *entry = files; entry != NULL; entry = entry->next) {
        if (entry->base == base && same(entry)) {
            found = entry->file;
        }
    }
    pthread_mutex_unlock(&files_lock);
    return found;
}

uint64_t sim_dpu_map(int file, uint64_t size, uint64_t near)
{
    /* Large pages need addresses that are as aligned as the places in the file. */
    uint8_t *room = mmap((void *)(uintptr_t)near, size + BLOCK, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
    remember((uint64_t)(uintptr_t)start, file);
    return (uint64_t)(uintptr_t)start;
}

int sim_dpu_map_at(uint64_t start, int file, uint64_t offset, uint64_t size)
{
    uint8_t *wanted = (uint8_t *)(uintptr_t)start;
    uint8_t *got = mmap(wanted, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, (off_t)offset);
    if (got != MAP_FAILED && got != wanted) { /* kernels before 4.17 take it for a hint */
        munmap(got, size);
        errno = EEXIST;
    }
    return got == wanted;
}

void sim_dpu_unmap(uint64_t address, uint64_t size)
{
    forget(address);
    munmap((void *)(uintptr_t)address, size);
}

/* How many of `count` pages, at most those of a block, exist. */
static size_t resident(const uint8_t *start, size_t count)
{
    unsigned char pages[PAGES];
    size_t there = 0;
    if (mincore((void *)(uintptr_t)start, count * PAGE, pages) != 0) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        there += pages[i] & 1;
    }
    return there;
}

static uint64_t own_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* After a slow one, 2 blocks do without; 4, 8, ... when it was not the first. */
enum { SLOW_NS = 1500000, LONGEST_PAUSE = 64 };
static uint32_t left_out, pause_after = 1;

static void ask(uint8_t *start)
{
    uint32_t left = __atomic_load_n(&left_out, __ATOMIC_RELAXED);
    if (left != 0) { /* two threads may count one block: nobody minds */
        __atomic_store_n(&left_out, left - 1, __ATOMIC_RELAXED);
        return;
    }
    uint64_t begin = own_ns();
    (void)*(volatile uint8_t *)start; /* only what has a page of some size can be collapsed */
    if (madvise(start, BLOCK, MADV_COLLAPSE) != 0 && errno != EAGAIN && errno != EBUSY) {
        __atomic_store_n(&refused, 1, __ATOMIC_RELAXED);
    }
    uint32_t pause = __atomic_load_n(&pause_after, __ATOMIC_RELAXED);
    if (own_ns() - begin < SLOW_NS) {
        pause = 1;
    } else {
        pause = pause < LONGEST_PAUSE ? pause * 2 : pause;
        __atomic_store_n(&left_out, pause, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&pause_after, pause, __ATOMIC_RELAXED);
}

/* `size` more bytes of one block are about to be written. */
static void use(uint8_t *slot, uint64_t block, uint64_t size)
{
    uint32_t *tried = (uint32_t *)(slot + SLOT_LARGE), bit = 1u << block; /* workers set it too */
    uint32_t *moved = (uint32_t *)(slot + SLOT_MOVED) + block;
    uint32_t before = __atomic_fetch_add(moved, (uint32_t)size, __ATOMIC_RELAXED);
    if (before / ENOUGH == (before + size) / ENOUGH ||
        (__atomic_load_n(tried, __ATOMIC_RELAXED) & bit) != 0) {
        return;
    }
    size_t there = resident(slot + block * BLOCK, PAGES);
    if (size < ENOUGH && there < PAGES / 4 - 1) {
        return; /* the same few bytes again and again */
    }
    if ((__atomic_fetch_or(tried, bit, __ATOMIC_RELAXED) & bit) == 0 && there < PAGES / 2) {
        ask(slot + block * BLOCK);
    }
}

void sim_dpu_large_pages(uint8_t *slot, uint64_t offset, uint64_t size)
{
    if (offset >= MRAM_SIZE || __atomic_load_n(&refused, __ATOMIC_RELAXED)) {
        return;
    }
    for (uint64_t end = offset + size; offset < end;) {
        uint64_t block = offset / BLOCK, next = (block + 1) * BLOCK;
        uint64_t part = (next < end ? next : end) - offset;
        use(slot, block, part);
        offset += part;
    }
}

/* Copies what lies in one block, by the file where most of its pages are to be made. */
static void fill(int file, uint64_t at, uint8_t *to, const uint8_t *from, size_t size)
{
    enum { WORTH = 16 * PAGE };
    if (file >= 0 && size >= WORTH) {
        size_t skip = (uintptr_t)to % PAGE, pages = (skip + size + PAGE - 1) / PAGE;
        if (resident(to - skip, pages) < pages / 2) {
            ssize_t done = pwrite(file, from, size, (off_t)at);
            if (done > 0) { /* what it could not write fails below as it always did */
                to += done;
                from += done;
                size -= (size_t)done;
            }
        }
    }
    memcpy(to, from, size);
}

void sim_dpu_write(int file, uint64_t base, uint8_t *slot, uint64_t offset, const uint8_t *from,
                   uint64_t size)
{
    if (offset >= MRAM_SIZE) {
        memcpy(slot + offset, from, size);
        return;
    }
    sim_dpu_large_pages(slot, offset, size);
    for (uint64_t end = offset + size; offset < end;) {
        uint64_t next = (offset / BLOCK + 1) * BLOCK, part = (next < end ? next : end) - offset;
        fill(file, (uint64_t)(uintptr_t)slot - base + offset, slot + offset, from, part);
        offset += part;
        from += part;
    }
}
