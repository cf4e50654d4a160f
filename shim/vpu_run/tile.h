/* Tiles that need no look at single rows. */
#ifndef CUDLA_SIM_VPU_TILE_H
#define CUDLA_SIM_VPU_TILE_H

#include "dma.h"

enum { PVA_CACHE_LINE = 64 };

/* Both sides lie in their spaces, which differ. `ahead`: how many bytes behind this tile the next one lies,
 * on the side that is not VMEM; only the time depends on it. */
void pva_move_plain(const struct pva_descriptor *d, const struct pva_memory *memory, uint64_t from,
                    uint64_t to, int64_t ahead);

#endif
