/* Loops over a constant number of elements, which stay in the nearest cache. */
#ifndef CUDLA_SIM_PARTS_H
#define CUDLA_SIM_PARTS_H

#include <stdint.h>
#include <string.h>

enum { PART = 128 };

/* memcpy of a known size of 128 to 512 bytes, for which gcc takes an instruction that is slow to begin. */
static inline __attribute__((always_inline)) void copy_part(const void *from, void *to,
                                                            const int bytes)
{
    for (int i = 0; i < bytes; i += 32)
        memcpy((uint8_t *)to + i, (const uint8_t *)from + i, 32);
}

/* The same of less than a part. */
static inline __attribute__((always_inline)) void copy_some(const void *from, void *to, int bytes)
{
    int done = 0;
    for (; done + 16 <= bytes; done += 16)
        memcpy((uint8_t *)to + done, (const uint8_t *)from + done, 16);
    for (; done < bytes; done++)
        ((uint8_t *)to)[done] = ((const uint8_t *)from)[done];
}

#endif
