/* Whether a range is memory of this process, asked of the kernel: nothing is touched by us. */
#define _GNU_SOURCE
#include "native.h"

#include <sys/mman.h>

#ifndef MADV_POPULATE_READ /* headers that are older than Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096 };

/* Whether madvise tests the permissions of a range for us. */
static int can_populate(void)
{
    static int known; /* 1 no, 2 yes */
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found == 0) {
        void *page = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        found = page != MAP_FAILED && madvise(page, PAGE, MADV_POPULATE_WRITE) == 0 ? 2 : 1;
        if (page != MAP_FAILED)
            munmap(page, PAGE);
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found == 2;
}

int sim_accessible(uint64_t address, uint64_t size, int write)
{
    uint64_t first = address & ~(uint64_t)(PAGE - 1), span = address + (size ? size : 1) - first;
    void *at = (void *)(uintptr_t)first;
    if (can_populate())
        return madvise(at, span, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0;
    return msync(at, span, MS_ASYNC) == 0;
}
