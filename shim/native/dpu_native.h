/* What the files of the DPUs' memory share; the layout of a slot is that of dpu_run/protocol.h. */
#ifndef CUDLA_SIM_DPU_NATIVE_H
#define CUDLA_SIM_DPU_NATIVE_H

#include <stddef.h>
#include <stdint.h>

/* Before so many bytes at `offset` of a slot are written. */
void sim_dpu_large_pages(uint8_t *slot, uint64_t offset, uint64_t size);

/* The file whose mapping begins at `base`, -1 when it cannot be written to now. */
int sim_dpu_file(uint64_t base);

/*
 * Writes `size` bytes at `offset` of a slot; `file` is that of `base`, or -1. Slots are as far from
 * `base` as in the file.
 */
void sim_dpu_write(int file, uint64_t base, uint8_t *slot, uint64_t offset, const uint8_t *from,
                   uint64_t size);

/* Bytes of the host that a block of a DPU is written to. */
struct sim_extent {
    uint64_t start, end;
    uint32_t dpu, block;
};

/* Sorts the extents; one that shares a byte with `*other`, or NULL. */
const struct sim_extent *sim_overlap(struct sim_extent *extents, size_t count,
                                     const struct sim_extent **other);

/* Whether this process may read (or write) a range of host memory. */
int sim_host_mapped(uintptr_t address, size_t size, int write);

/* Where the mapping with an address begins and ends, if all of it may be read (or written). */
int sim_host_mapping(uintptr_t address, int write, uintptr_t *low, uintptr_t *high);

#endif
