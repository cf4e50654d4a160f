/* memcpy and the like with MRAM on either side. */
#ifndef UPMEM_SYSLIB_MEMMRAM_UTILS_H
#define UPMEM_SYSLIB_MEMMRAM_UTILS_H

#include <attributes.h>
#include <stddef.h>
#include <string.h>

/* What a DMA transfer needs: addresses and sizes that are multiples of 8. */
#define DMA_ALIGNMENT 8
#define DMA_OFF_MASK (DMA_ALIGNMENT - 1)
#define DMA_ALIGNED(x) ALIGN(x, DMA_ALIGNMENT)
#define ALIGN(x, a) ALIGN_MASK((x), (a) - 1)
#define ALIGN_MASK(x, mask) (((x) + (mask)) & ~(mask))
#define MRAM_CACHE_SIZE 8
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

#define memcpy_wram_to_mram(dest, src, n) memcpy((dest), (src), (n))
#define memcpy_mram_to_wram(dest, src, n) memcpy((dest), (src), (n))
#define memcpy_mram_to_mram(dest, src, n) memcpy((dest), (src), (n))
#define memset_mram(dest, c, n) memset((dest), (c), (n))

#endif
