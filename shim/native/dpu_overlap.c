/* Whether blocks that a transfer writes share a byte. */
#include <stdlib.h>

#include "dpu_native.h"

static int by_start(const void *left, const void *right)
{
    const struct sim_extent *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

const struct sim_extent *sim_overlap(struct sim_extent *extents, size_t count,
                                     const struct sim_extent **other)
{
    qsort(extents, count, sizeof *extents, by_start);
    const struct sim_extent *farthest = extents; /* of those so far, the one that ends last */
    for (size_t i = 1; i < count; i++) {
        if (extents[i].start < farthest->end) {
            *other = farthest;
            return &extents[i];
        }
        if (extents[i].end > farthest->end) {
            farthest = &extents[i];
        }
    }
    return NULL;
}
