/* DPU side: partitions a buffer in place. Afterwards everything left of metadata[0] elements is
   smaller than the pivot, and the metadata[1] elements after it are not. */
#include <mram.h>
#include <stdint.h>

#include "pivot.h"

#define CHUNK (2048 / (int)sizeof(int32_t)) /* the most that one transfer can carry */

__mram_noinit int32_t buffer[ELEMENTS_PER_DPU];
__host uint64_t metadata[NB_BLOCKS];

__dma_aligned static int32_t elements[ELEMENTS_PER_DPU];

int main(void)
{
    for (int at = 0; at < ELEMENTS_PER_DPU; at += CHUNK)
        mram_read(&buffer[at], &elements[at], CHUNK * sizeof(int32_t));

    int left = 0, right = ELEMENTS_PER_DPU - 1;
    while (left <= right) {
        if (elements[left] < PIVOT) {
            left++;
        } else {
            int32_t larger = elements[left];
            elements[left] = elements[right];
            elements[right] = larger;
            right--;
        }
    }
    metadata[0] = left;
    metadata[1] = ELEMENTS_PER_DPU - left;

    for (int at = 0; at < ELEMENTS_PER_DPU; at += CHUNK)
        mram_write(&elements[at], &buffer[at], CHUNK * sizeof(int32_t));
    return 0;
}
