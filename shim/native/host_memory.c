/* Whether what a program hands over is memory: a wrong address must become an error, not the end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/dpu_native.h"

enum { PAGE = 4096 };

/* From Linux 5.14 on; before, a range only has to exist. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* From Linux 6.11 on, in headers that are younger than many systems (linux/fs.h). */
struct mapping_query {
    uint64_t size, query_flags, query_addr;
    uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)
enum { READABLE = 1, WRITABLE = 2 };

/*
 * Looking a mapping up takes 3 us, making sure of the pages 0.1 us or more each, of which there are
 * 256 in a megabyte.
 */
enum { LOOK_UP_FROM = 128 << 10 };

/*
 * The mapping that has an address, when it has no file: each of its pages can be used then (a file
 * may be shorter than its mapping). 0: not known.
 */
static int look_up(int file, uintptr_t address, int write, struct mapping_query *query)
{
    *query = (struct mapping_query){.size = sizeof *query, .query_addr = address};
    return ioctl(file, MAPPING_QUERY, query) == 0 && query->inode == 0 &&
           (query->vma_flags & (write ? WRITABLE : READABLE)) != 0;
}

/* 1 when such mappings cover the range. */
static int covered(uintptr_t address, size_t size, int write)
{
    struct mapping_query query;
    uintptr_t end = address + size;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (file >= 0 && address < end && look_up(file, address, write, &query)) {
        address = (uintptr_t)query.vma_end;
    }
    if (file >= 0) {
        close(file);
    }
    return address >= end;
}

int sim_host_mapping(uintptr_t address, int write, uintptr_t *low, uintptr_t *high)
{
    struct mapping_query query;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    int found = file >= 0 && look_up(file, address, write, &query);
    if (file >= 0) {
        close(file);
    }
    if (found) {
        *low = (uintptr_t)query.vma_start;
        *high = (uintptr_t)query.vma_end;
    }
    return found;
}

/* Whether the kernel knows these requests: our own stack is memory. */
static int can_populate(void)
{
    static int known = -1;
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found < 0) {
        char here[1];
        void *page = (void *)((uintptr_t)here & -(uintptr_t)PAGE);
        found = madvise(page, PAGE, MADV_POPULATE_WRITE) == 0;
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found;
}

int sim_host_mapped(uintptr_t address, size_t size, int write)
{
    uintptr_t first = address & -(uintptr_t)PAGE;
    if (address == 0 || size > UINTPTR_MAX - address) {
        return 0;
    }
    if (size >= LOOK_UP_FROM && covered(address, size, write)) {
        return 1;
    }
    size += address - first;
    if (can_populate()) {
        int request = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
        return madvise((void *)first, size, request) == 0;
    }
    return msync((void *)first, size, MS_ASYNC) == 0;
}
