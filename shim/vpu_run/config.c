/*
 * ConfigDataFlow: a table that the kernel has written in VMEM goes to the DMA's descriptors. A header
 * (number of entries, magic), then entries of a value and an address in the DMA's memory; two words
 * each. cupva_device/device_core.h has the words of a descriptor that can be written.
 *
 * Hardware reads a descriptor when its channel comes to it: what is written counts from then on, and
 * not for one that has ended. To change one in the middle is an error.
 */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0xDEADC0DEu
#define DESCRIPTOR_BYTES 64u

enum { CNTL, SRC_ADR, DST_ADR, TILE_CNTL, LP_CNTL, SRCPT1, DSTPT3 = 10 };

static _Noreturn void refuse(uint32_t number, const char *text, void *caller)
{
    rt_stop(PVA_FAULT, PVA_CAUSE_ORDER, number, 0, text, caller);
}

/* The dataflow with a descriptor, and which of its descriptors it is. */
static struct flow *owner_of(uint32_t id, uint64_t *index)
{
    for (uint32_t i = 0; i < rt_nr_flows; i++) {
        struct flow *flow = &rt_flows[i];
        uint32_t first = (uint32_t)flow->info->planes;
        if (flow->kind == PVA_KIND_DATA && id >= first && id - first < flow->count) {
            *index = id - first;
            return flow;
        }
    }
    return 0;
}

/* The descriptor for a change; NULL when it has ended. */
static struct pva_descriptor *changed(struct flow *flow, uint64_t index, uint32_t number,
                                      void *caller)
{
    const struct pva_cursor *at = rt_late ? &flow->ahead : &flow->cursor;
    if (at->descriptor > index)
        return 0;
    if (at->descriptor == index && at->tile != 0)
        refuse(number, "a table changes a descriptor in the middle of its tiles", caller);
    if (flow->own == 0) {
        size_t size = flow->count * sizeof *flow->own;
        flow->own = malloc(size);
        if (flow->own == 0)
            refuse(number, "no memory for changes of descriptors", caller);
        memcpy(flow->own, flow->list, size);
        flow->list = flow->own;
    }
    return &flow->own[index];
}

static void set_address(struct pva_side *side, uint32_t value)
{
    int64_t at = (int64_t)(((uint64_t)side->at & ~0xFFFFFFFFull) | value);
    side->ring += side->ring_size ? at - side->at : 0;
    side->at = at;
}

/* SRCPT1, DSTPT1, SRCPT2 ... */
static void set_walk(struct pva_descriptor *d, uint32_t word, uint32_t value, uint32_t number,
                     void *caller)
{
    struct pva_side *side = (word - SRCPT1) % 2 ? &d->dst : &d->src;
    uint32_t dimension = (word - SRCPT1) / 2;
    int64_t repetitions = (value >> 24) + 1;
    if (repetitions != side->n[dimension] && d->per_trigger != 1)
        refuse(number, "UnsupportedOperation: a table changes repetitions of a dataflow whose "
                       "granularity is not TILE", caller);
    side->n[dimension] = repetitions;
    side->adv[dimension] = (int64_t)((int32_t)(value << 8) >> 8) * d->bpp;
}

static void write_word(struct pva_descriptor *d, uint32_t word, uint32_t value, uint32_t number,
                       void *caller)
{
    if (word == SRC_ADR || word == DST_ADR) {
        set_address(word == SRC_ADR ? &d->src : &d->dst, value);
    } else if (word == TILE_CNTL) {
        d->tx = value & 0xFFFF;
        d->ty = value >> 16;
    } else if (word == LP_CNTL) {
        d->src.pitch = (int64_t)(value & 0xFFFF) * d->bpp;
        d->dst.pitch = (int64_t)(value >> 16) * d->bpp;
    } else if (word >= SRCPT1 && word <= DSTPT3) {
        set_walk(d, word, value, number, caller);
    } else {
        refuse(number, "UnsupportedOperation: a table writes to a word of a descriptor whose bits "
                       "are not documented publicly; SRC_ADR to DSTPT3_CNTL can be written", caller);
    }
}

static uint64_t tiles_of(const struct pva_side *side)
{
    return (uint64_t)side->n[0] * (uint64_t)side->n[1] * (uint64_t)side->n[2];
}

/* All descriptors again: a table may change both sides, one after the other. */
static void check(struct flow *flow, uint32_t number, void *caller)
{
    for (uint64_t i = 0; flow->own && i < flow->count; i++) {
        struct pva_descriptor *d = &flow->own[i];
        d->tiles = (int64_t)tiles_of(&d->src);
        if (tiles_of(&d->src) != tiles_of(&d->dst))
            refuse(number, "a table leaves a descriptor with different numbers of tiles on its sides",
                   caller);
        if (d->left + d->right >= d->tx + (d->tx == 0) || d->top + d->bottom >= d->ty + (d->tx == 0))
            refuse(number, "a table leaves a tile no larger than its padding", caller);
    }
}

void rt_config_apply(struct flow *flow, uint32_t number, void *caller)
{
    uint64_t at = (uint32_t)flow->info->buffer, room = (uint32_t)flow->info->ring / 8;
    const uint8_t *table = rt_memory.base[PVA_VMEM] + at;
    uint32_t header[2];
    memcpy(header, table, sizeof header);
    if (header[1] != MAGIC)
        refuse(number, "the second word of the table is not 0xDEADC0DE", caller);
    if (header[0] >= room)
        refuse(number, "the table has more entries than its variable has room for", caller);
    for (uint32_t i = 1; i <= header[0]; i++) {
        uint32_t entry[2];
        uint64_t index = 0;
        memcpy(entry, table + 8 * i, sizeof entry);
        uint32_t offset = entry[1] - PVA_DMA_DESCRIPTORS_AT;
        struct flow *target =
            offset % 4 ? 0 : owner_of(offset / DESCRIPTOR_BYTES, &index);
        if (entry[1] < PVA_DMA_DESCRIPTORS_AT || target == 0)
            refuse(number, "an address in the table is of no StaticDataFlow's descriptor; "
                           "CUPVA_GET_DESC_ATTR_ADDR gives them", caller);
        struct pva_descriptor *d = changed(target, index, number, caller);
        if (d != 0)
            write_word(d, offset % DESCRIPTOR_BYTES / 4, entry[0], number, caller);
    }
    for (uint32_t i = 0; i < rt_nr_flows; i++)
        if (rt_flows[i].kind == PVA_KIND_DATA)
            check(&rt_flows[i], number, caller);
}
