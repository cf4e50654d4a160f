/*
 * The bytes of VMEM that a transfer reads or writes, as they were when it was triggered (and, for
 * one that writes to VMEM, when its data came). A byte that differs before the sync was written by
 * the kernel, or by another dataflow, while the DMA may still have been at work on it.
 */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

struct run {
    uint32_t at, size; /* in VMEM, bytes */
};

struct pva_watch {
    struct pva_watch *next; /* of a later trigger */
    uint64_t trigger;
    uint32_t nr_runs, room, bytes;
    struct run *runs;
    uint8_t *copy;
};

static void add_run(struct pva_watch *watch, uint64_t at, uint64_t size)
{
    if (size == 0 || at > PVA_VMEM_SIZE || size > PVA_VMEM_SIZE - at)
        return; /* the transfer itself will say so */
    struct run *last = watch->nr_runs ? &watch->runs[watch->nr_runs - 1] : 0;
    if (last && last->at + last->size == at) {
        last->size += (uint32_t)size;
    } else {
        if (watch->nr_runs == watch->room) {
            uint32_t room = watch->room ? 2 * watch->room : 64;
            struct run *grown = realloc(watch->runs, room * sizeof *grown);
            if (grown == 0)
                return;
            watch->runs = grown;
            watch->room = room;
        }
        watch->runs[watch->nr_runs++] = (struct run){(uint32_t)at, (uint32_t)size};
    }
    watch->bytes += (uint32_t)size;
}

/* A row, in pieces where a circular buffer wraps. */
static void add_row(struct pva_watch *watch, const struct pva_side *side, int64_t at, int64_t size)
{
    while (size > 0 && side->ring_size > 0) {
        int64_t inside = (at - side->ring) % side->ring_size;
        if (inside < 0)
            inside += side->ring_size;
        int64_t piece = side->ring_size - inside < size ? side->ring_size - inside : size;
        add_run(watch, (uint64_t)(side->ring + inside), (uint64_t)piece);
        at += piece;
        size -= piece;
    }
    if (size > 0)
        add_run(watch, (uint64_t)at, (uint64_t)size);
}

static void add_tile(struct pva_watch *watch, const struct pva_descriptor *d, uint64_t tile)
{
    int into = d->dst.space == PVA_VMEM;
    const struct pva_side *side = into ? &d->dst : &d->src;
    if (side->space != PVA_VMEM || d->tx == 0)
        return;
    int64_t at = side->at, width = d->tx * d->bpp, height = d->ty;
    for (int i = 0; i < 3; i++) {
        at += (int64_t)(tile % (uint64_t)side->n[i]) * side->adv[i];
        tile /= (uint64_t)side->n[i];
    }
    if (!into) {
        width -= (d->left + d->right) * d->bpp;
        height -= d->top + d->bottom;
    }
    for (int64_t y = 0; y < height; y++, at += side->pitch)
        add_row(watch, side, at, width);
}

static void take(struct pva_watch *watch)
{
    uint8_t *to = watch->copy;
    for (uint32_t i = 0; i < watch->nr_runs; i++) {
        memcpy(to, rt_memory.base[PVA_VMEM] + watch->runs[i].at, watch->runs[i].size);
        to += watch->runs[i].size;
    }
}

static void discard(struct pva_watch *watch)
{
    free(watch->runs);
    free(watch->copy);
    free(watch);
}

/* From the cursor's place as far as one trigger moves. Without memory nothing is watched. */
void rt_watch_begin(struct flow *flow, const struct pva_cursor *from, uint64_t trigger)
{
    struct pva_watch *watch = calloc(1, sizeof *watch);
    if (watch == 0)
        return;
    watch->trigger = trigger;
    uint64_t tile = from->tile;
    for (uint64_t i = from->descriptor; i < flow->count; i++, tile = 0) {
        const struct pva_descriptor *d = &flow->list[i];
        uint64_t end = tile + (uint64_t)d->per_trigger;
        if (end > (uint64_t)d->tiles)
            end = (uint64_t)d->tiles;
        for (uint64_t k = tile; k < end; k++)
            add_tile(watch, d, k);
        if (end < (uint64_t)d->tiles || !d->chained)
            break;
    }
    watch->copy = malloc(watch->bytes ? watch->bytes : 1);
    if (watch->copy == 0) {
        discard(watch);
        return;
    }
    take(watch);
    struct pva_watch **place = &flow->watch;
    while (*place)
        place = &(*place)->next;
    *place = watch;
}

/* The data of a trigger has come. */
void rt_watch_refresh(struct flow *flow, uint64_t trigger)
{
    for (struct pva_watch *watch = flow->watch; watch; watch = watch->next)
        if (watch->trigger == trigger)
            take(watch);
}

const uint8_t *rt_watch_check(const struct flow *flow, uint64_t last)
{
    for (const struct pva_watch *watch = flow->watch; watch && watch->trigger <= last;
         watch = watch->next) {
        const uint8_t *expected = watch->copy;
        for (uint32_t i = 0; i < watch->nr_runs; i++) {
            const uint8_t *found = rt_memory.base[PVA_VMEM] + watch->runs[i].at;
            for (uint32_t k = 0; k < watch->runs[i].size; k++)
                if (found[k] != expected[k])
                    return found + k;
            expected += watch->runs[i].size;
        }
    }
    return 0;
}

void rt_watch_drop(struct flow *flow, uint64_t last)
{
    while (flow->watch && flow->watch->trigger <= last) {
        struct pva_watch *ended = flow->watch;
        flow->watch = ended->next;
        discard(ended);
    }
}
