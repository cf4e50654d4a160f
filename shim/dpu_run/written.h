/*
 * What of MRAM was never written, and who finds out that a program uses it: written.c knows the words
 * and what DMA brings; unwritten.c follows the bytes to where a program that tells its accesses reads
 * them. Only such a program links the latter.
 */
#ifndef DPU_RUN_WRITTEN_H
#define DPU_RUN_WRITTEN_H

#include "rt.h"

/* What the code of a FAULT_UNWRITTEN says. */
enum unwritten_code {
    UNWRITTEN_READ = 0,   /* a DMA brought it, perhaps nobody looks at it */
    UNWRITTEN_USED = 1,   /* a DMA brought it, and it was read; other: where in WRAM */
    UNWRITTEN_DIRECT = 2, /* it was read through a pointer into MRAM */
};

/* Offsets in MRAM; sizes in bytes, whole words. */
void rt_mark_written(uint32_t offset, uint32_t size);
bool rt_never_written(uint32_t offset, uint32_t size);

void rt_written_begin(void);
void rt_written_end(void); /* of a launch */

/* A DMA read of the program at `pc`. */
void rt_written_read(uint32_t offset, uintptr_t wram, uint32_t size, uint64_t pc);

/* Of a launch whose program tells its accesses, from its first function on; NULL otherwise. */
struct unwritten {
    void (*loaded)(uint32_t offset, uintptr_t to, uint32_t size);
    void (*stored)(uintptr_t from, uint32_t offset, uint32_t size);
    void (*copied)(uintptr_t to, uintptr_t from, uint32_t size, bool backwards);
    void (*wrote)(uintptr_t address, uint32_t size);
};
extern const struct unwritten *rt_unwritten;

static inline void unwritten_copied(const void *to, const void *from, uint32_t size, bool backwards)
{
    if (rt_unwritten)
        rt_unwritten->copied((uintptr_t)to, (uintptr_t)from, size, backwards);
}

/* unwritten.c, for the functions that the compiler calls */
void rt_unwritten_function(void);
void rt_unwritten_access(uintptr_t address, uint32_t size, bool write, uint64_t pc);

#endif
