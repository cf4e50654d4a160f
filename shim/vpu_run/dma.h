/* The DMA engine: descriptors as pyimpl/cudla_sim/cupva/dma.py fills them. */
#ifndef CUDLA_SIM_VPU_DMA_H
#define CUDLA_SIM_VPU_DMA_H

#include <stddef.h>
#include <stdint.h>

enum { PVA_DRAM, PVA_VMEM, PVA_L2, PVA_SPACES };
#define PVA_SPACE_SHIFT 56 /* of an address as a VPU sees it: CUPVA_IOVA_SPACE_SHIFT */
enum { PVA_PAD_NONE, PVA_PAD_CONST, PVA_PAD_BPE };

struct pva_side {
    int64_t space, at, pitch, n[3], adv[3], ring, ring_size;
};

/* Everything in bytes except tx, ty and the padding, which count pixels. */
struct pva_descriptor {
    int64_t tx, ty, bpp, left, right, top, bottom, pad_mode, pad_value;
    struct pva_side src, dst;
    int64_t copy_at, tiles, per_trigger, chained;
};

/* Where the spaces lie in this process. */
struct pva_memory {
    uint8_t *base[PVA_SPACES];
    uint64_t size[PVA_SPACES];
};

/* How far a list of descriptors has been worked off. */
struct pva_cursor {
    uint64_t descriptor, tile, triggers;
};

enum { PVA_DMA_MOVED, PVA_DMA_ENDED, PVA_DMA_OUT_OF_RANGE };

/* One trigger: PVA_DMA_ENDED when nothing is left to move. */
int pva_dma_trigger(const struct pva_descriptor *list, uint64_t count, struct pva_cursor *cursor,
                    const struct pva_memory *memory);

/* Everything that is left. */
int pva_dma_run(const struct pva_descriptor *list, uint64_t count, struct pva_cursor *cursor,
                const struct pva_memory *memory);

#endif
