/*
 * Whether a range is memory of this process, asked of the kernel: nothing is touched by us.
 *
 * Whether a few pages can be read says a request that does not exist. Else Linux 5.14 tests permissions when it
 * is asked for the pages. Older ones (a Jetson's 5.10) and emulators do not know that request, or take it for
 * advice that they may forget: there the table of mappings says it.
 */
#define _GNU_SOURCE
#include "native.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ /* headers that are older than Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum { FEW_PAGES = 4 };

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Whether madvise tests the permissions of a range for us. */
static int can_populate(void)
{
    static int known; /* 1 no, 2 yes */
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found == 0) {
        size_t size = (size_t)page_size();
        void *page = mmap(0, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        found = page != MAP_FAILED && madvise(page, size, MADV_POPULATE_READ) == 0 &&
                        madvise(page, size, MADV_POPULATE_WRITE) != 0
                    ? 2
                    : 1;
        if (page != MAP_FAILED)
            munmap(page, size);
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found == 2;
}

/* Linux copies the signals of a request before it finds that there is no such request. */
static int readable(uint64_t address)
{
    return syscall(SYS_rt_sigprocmask, -1, address & ~UINT64_C(7), 0, sizeof(uint64_t)) < 0 && errno == EINVAL;
}

/* Whether `readable` is true: emulators look at the request first, and valgrind reports what it may not
 * read. */
static int can_try(void)
{
    static int known; /* 1 no, 2 yes */
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found == 0) {
        const char *loaded = getenv("LD_PRELOAD");
        size_t size = (size_t)page_size();
        void *page = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        found = (loaded == 0 || strstr(loaded, "vgpreload") == 0) && page != MAP_FAILED &&
                        !readable((uintptr_t)page) && readable((uintptr_t)&size)
                    ? 2
                    : 1;
        if (page != MAP_FAILED)
            munmap(page, size);
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found == 2;
}

/* What is read of /proc/self/maps, a character after the other. */
struct table {
    int file;
    ptrdiff_t at, end;
    char text[4096];
};

static int next(struct table *table)
{
    if (table->at == table->end) {
        table->end = read(table->file, table->text, sizeof table->text);
        table->at = 0;
        if (table->end <= 0) {
            table->end = 0;
            return -1;
        }
    }
    return (unsigned char)table->text[table->at++];
}

/* A hexadecimal number and the character behind it. */
static uint64_t number(struct table *table, int *behind)
{
    uint64_t found = 0;
    for (;;) {
        int c = next(table);
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) {
            *behind = c;
            return found;
        }
        found = found << 4 | (uint64_t)digit;
    }
}

int sim_accessible_by_table(uint64_t address, uint64_t size, int write)
{
    struct table table = {.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    uint64_t end = address + (size ? size : 1);
    int c = 0, found = 0;
    while (table.file >= 0 && c >= 0) { /* a line: begin-end rwxp ..., in ascending order */
        uint64_t first = number(&table, &c), last = number(&table, &c);
        int readable = next(&table) == 'r', writable = next(&table) == 'w';
        do {
            c = next(&table);
        } while (c >= 0 && c != '\n');
        if (last <= address)
            continue;
        if (first > address || !readable || (write && !writable))
            break;
        address = last;
        if (address >= end) {
            found = 1;
            break;
        }
    }
    if (table.file >= 0)
        close(table.file);
    return found;
}

int sim_accessible(uint64_t address, uint64_t size, int write)
{
    uint64_t page = page_size(), first = address & ~(page - 1), span = address + (size ? size : 1) - first;
    if (!write && span <= FEW_PAGES * page && can_try()) { /* a sixth of the time of madvise */
        int found = readable(address);
        for (uint64_t at = page; found && at < span; at += page)
            found = readable(first + at);
        return found;
    }
    if (!can_populate())
        return sim_accessible_by_table(address, size, write);
    return madvise((void *)(uintptr_t)first, span, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0;
}
