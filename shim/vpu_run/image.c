/*
 * VMEM and the kernel's other variables: set to what the program file holds before every launch.
 * Nothing survives in them from one launch to the next.
 *
 * Between the variables in VMEM lie gaps (the linker script of the toolchain makes them). They are
 * part of the image with a pattern; a gap that changed shows that a variable was overrun.
 */
#define _GNU_SOURCE
#include "rt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

/* From the linker script. */
extern uint8_t __vpu_kernel_start[], __vpu_kernel_end[];
struct gap {
    uint64_t start, end;
};
extern const struct gap __vpu_gaps[], __vpu_gaps_end[];
extern const uint64_t __vpu_bank_ends[3];

static uint8_t *bank_image[3], *kernel_image;
static size_t bank_size[3];

static uint8_t pattern(uint64_t address)
{
    return (uint8_t)(0xA5 ^ (address * 29) ^ (address >> 7));
}

static uint64_t bank_start(int bank)
{
    return PVA_VMEM_WINDOW + (uint64_t)bank * PVA_BANK_STRIDE;
}

static void *copy_of(const void *bytes, size_t size, size_t room)
{
    uint8_t *copy = mmap(0, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        _exit(120);
    memcpy(copy, bytes, size);
    return copy;
}

/* Takes the image from where the program was loaded and puts the shared memory in its place. */
void rt_image_setup(int vmem_file)
{
    for (int bank = 0; bank < 3; bank++) {
        uint64_t start = bank_start(bank), end = __vpu_bank_ends[bank];
        bank_size[bank] = (end - start + PAGE - 1) & ~(size_t)(PAGE - 1);
        if (end == start)
            continue;
        bank_image[bank] = copy_of((void *)start, end - start, bank_size[bank]);
        for (uint64_t at = end; at < start + bank_size[bank]; at++)
            bank_image[bank][at - start] = pattern(at);
        if (mmap((void *)start, bank_size[bank], PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 vmem_file, (off_t)(start - PVA_VMEM_WINDOW)) == MAP_FAILED)
            _exit(121);
    }
    for (const struct gap *gap = __vpu_gaps; gap < __vpu_gaps_end; gap++) {
        int bank = (int)((gap->start - PVA_VMEM_WINDOW) / PVA_BANK_STRIDE);
        for (uint64_t at = gap->start; at < gap->end; at++)
            bank_image[bank][at - bank_start(bank)] = pattern(at);
    }
    size_t size = (size_t)(__vpu_kernel_end - __vpu_kernel_start);
    kernel_image = copy_of(__vpu_kernel_start, size, size);
}

void rt_image_reset(void)
{
    for (int bank = 0; bank < 3; bank++)
        if (bank_image[bank])
            memcpy((void *)bank_start(bank), bank_image[bank], bank_size[bank]);
    memcpy(__vpu_kernel_start, kernel_image, (size_t)(__vpu_kernel_end - __vpu_kernel_start));
}

static const uint8_t *first_change(uint64_t start, uint64_t end)
{
    int bank = (int)((start - PVA_VMEM_WINDOW) / PVA_BANK_STRIDE);
    const uint8_t *expected = bank_image[bank] + (start - bank_start(bank));
    if (memcmp((void *)start, expected, end - start) == 0)
        return 0;
    const uint8_t *found = (const uint8_t *)start;
    while (*found == *expected) {
        found++;
        expected++;
    }
    return found;
}

/* The first byte outside all variables that changed, or NULL. */
const uint8_t *rt_image_overrun(void)
{
    for (const struct gap *gap = __vpu_gaps; gap < __vpu_gaps_end; gap++) {
        const uint8_t *found = first_change(gap->start, gap->end);
        if (found)
            return found;
    }
    for (int bank = 0; bank < 3; bank++) {
        uint64_t end = __vpu_bank_ends[bank], last = bank_start(bank) + bank_size[bank];
        const uint8_t *found = bank_image[bank] && end < last ? first_change(end, last) : 0;
        if (found)
            return found;
    }
    return 0;
}
