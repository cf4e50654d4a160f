/* memcpy and the like with MRAM on either side. */
#ifndef UPMEM_SYSLIB_MEMMRAM_UTILS_H
#define UPMEM_SYSLIB_MEMMRAM_UTILS_H

#include <attributes.h>
#include <stddef.h>
#include <string.h>

#define memcpy_wram_to_mram(dest, src, n) memcpy((dest), (src), (n))
#define memcpy_mram_to_wram(dest, src, n) memcpy((dest), (src), (n))
#define memcpy_mram_to_mram(dest, src, n) memcpy((dest), (src), (n))
#define memset_mram(dest, c, n) memset((dest), (c), (n))

#endif
