/*
 * Moves tiles. Rows are copied whole where addresses are consecutive; only circular buffers need a
 * second piece at the wrap.
 */
#include "dma.h"
#include "tile.h"

#include <string.h>

/* Where a tile of a descriptor begins on one side. Dividing takes longer than moving a small tile, so
 * a trigger divides once, and counts from there. */
struct place {
    const struct pva_side *side;
    uint64_t at;
    int64_t digit[3];
};

static uint64_t place_of(struct place *place, const struct pva_side *side, uint64_t tile)
{
    int64_t offset = 0;
    for (int i = 0; i < 3; i++) {
        const uint64_t n = (uint64_t)side->n[i];
        place->digit[i] = tile == 0 || n == 1 ? 0 : (int64_t)(tile % n);
        tile = tile == 0 || n == 1 ? tile : tile / n;
        offset += place->digit[i] * side->adv[i];
    }
    place->side = side;
    return place->at = (uint64_t)(side->at + offset);
}

static uint64_t next_place(struct place *place)
{
    const struct pva_side *side = place->side;
    for (int i = 0; i < 3; i++) {
        place->at += (uint64_t)side->adv[i];
        if (++place->digit[i] < side->n[i]) {
            break;
        }
        place->at -= (uint64_t)(side->n[i] * side->adv[i]);
        place->digit[i] = 0;
    }
    return place->at;
}

/* The address of a byte, wrapped; *run is how many bytes follow it without a wrap. */
static uint64_t wrapped(const struct pva_side *side, uint64_t address, uint64_t *run)
{
    if (side->ring_size == 0) {
        *run = UINT64_MAX;
        return address;
    }
    int64_t inside = ((int64_t)address - side->ring) % side->ring_size;
    if (inside < 0) {
        inside += side->ring_size;
    }
    *run = (uint64_t)(side->ring_size - inside);
    return (uint64_t)(side->ring + inside);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int in_range(const struct pva_memory *memory, int64_t space, uint64_t at, uint64_t size)
{
    return at <= memory->size[space] && size <= memory->size[space] - at;
}

static int store(const struct pva_descriptor *d, const struct pva_memory *memory, uint64_t to,
                 const uint8_t *bytes, uint64_t size)
{
    if (!in_range(memory, d->dst.space, to, size)) {
        return PVA_DMA_OUT_OF_RANGE;
    }
    memmove(memory->base[d->dst.space] + to, bytes, size);
    if (d->copy_at >= 0) {
        uint64_t copy = to - (uint64_t)d->dst.at + (uint64_t)d->copy_at;
        if (!in_range(memory, d->dst.space, copy, size)) {
            return PVA_DMA_OUT_OF_RANGE;
        }
        memmove(memory->base[d->dst.space] + copy, bytes, size);
    }
    return PVA_DMA_MOVED;
}

static int copy_run(const struct pva_descriptor *d, const struct pva_memory *memory, uint64_t from,
                    uint64_t to, uint64_t size)
{
    while (size != 0) {
        uint64_t source_run, target_run;
        uint64_t source = wrapped(&d->src, from, &source_run);
        uint64_t target = wrapped(&d->dst, to, &target_run);
        uint64_t piece = least(size, least(source_run, target_run));
        if (!in_range(memory, d->src.space, source, piece)) {
            return PVA_DMA_OUT_OF_RANGE;
        }
        int status = store(d, memory, target, memory->base[d->src.space] + source, piece);
        if (status != PVA_DMA_MOVED) {
            return status;
        }
        from += piece;
        to += piece;
        size -= piece;
    }
    return PVA_DMA_MOVED;
}

static int fill_run(const struct pva_descriptor *d, const struct pva_memory *memory, uint64_t to,
                    const uint8_t *pixel, int64_t count)
{
    uint8_t line[1024];
    int64_t room = (int64_t)sizeof line / d->bpp, filled = count < room ? count : room;
    for (int64_t i = 0; i < filled; i++) {
        memcpy(line + i * d->bpp, pixel, (size_t)d->bpp);
    }
    while (count > 0) {
        uint64_t run, size = (uint64_t)((count < room ? count : room) * d->bpp);
        uint64_t target = wrapped(&d->dst, to, &run);
        uint64_t piece = least(size, run);
        /* A wrap may cut a pixel in two: the rest of the line begins in its middle. */
        int status = store(d, memory, target, line, piece);
        if (status == PVA_DMA_MOVED && piece < size) {
            target = wrapped(&d->dst, to + piece, &run);
            status = store(d, memory, target, line + piece, size - piece);
        }
        if (status != PVA_DMA_MOVED) {
            return status;
        }
        to += size;
        count -= (int64_t)(size / (uint64_t)d->bpp);
    }
    return PVA_DMA_MOVED;
}

static int read_pixel(const struct pva_descriptor *d, const struct pva_memory *memory,
                      uint64_t from, uint8_t *pixel)
{
    for (int64_t i = 0; i < d->bpp; i++) {
        uint64_t run, at = wrapped(&d->src, from + (uint64_t)i, &run);
        if (!in_range(memory, d->src.space, at, 1)) {
            return PVA_DMA_OUT_OF_RANGE;
        }
        pixel[i] = memory->base[d->src.space][at];
    }
    return PVA_DMA_MOVED;
}

/* One row of the destination that has real pixels: padding, pixels, padding. */
static int move_row(const struct pva_descriptor *d, const struct pva_memory *memory, uint64_t from,
                    uint64_t to)
{
    int64_t width = d->tx - d->left - d->right;
    uint8_t pixel[8] = {0};
    int status = PVA_DMA_MOVED;
    memcpy(pixel, &d->pad_value, sizeof pixel);
    if (d->left > 0) {
        if (d->pad_mode == PVA_PAD_BPE) {
            status = read_pixel(d, memory, from, pixel);
        }
        if (status == PVA_DMA_MOVED) {
            status = fill_run(d, memory, to, pixel, d->left);
        }
        to += (uint64_t)(d->left * d->bpp);
    }
    if (status == PVA_DMA_MOVED) {
        status = copy_run(d, memory, from, to, (uint64_t)(width * d->bpp));
    }
    if (status == PVA_DMA_MOVED && d->right > 0) {
        if (d->pad_mode == PVA_PAD_BPE) {
            status = read_pixel(d, memory, from + (uint64_t)((width - 1) * d->bpp), pixel);
        }
        if (status == PVA_DMA_MOVED) {
            status = fill_run(d, memory, to + (uint64_t)(width * d->bpp), pixel, d->right);
        }
    }
    return status;
}

/* 1 when every byte of a tile lies in its space: then rows need not be looked at one by one. */
static int tile_in_range(const struct pva_memory *memory, const struct pva_side *side,
                         uint64_t start, int64_t width, int64_t height)
{
    return side->pitch >= 0 &&
           in_range(memory, side->space, start, (uint64_t)((height - 1) * side->pitch + width));
}

/* How far from the last tile of a descriptor the first one of the next begins, on the side that is not
 * VMEM; 0 when that is not known. */
static int64_t to_next(const struct pva_descriptor *d, const struct pva_descriptor *next, int reads,
                       uint64_t at)
{
    if (next == 0) {
        return 0;
    }
    const struct pva_side *side = reads ? &next->src : &next->dst;
    return side->space == (reads ? d->src.space : d->dst.space) ? side->at - (int64_t)at : 0;
}

/* `ahead`: see move_plain. */
static int move_tile(const struct pva_descriptor *d, const struct pva_memory *memory, uint64_t from,
                     uint64_t to, int64_t ahead)
{
    int64_t height = d->ty - d->top - d->bottom;
    uint8_t pixel[8];
    /* Rows that overlap are written in their order, which padding behind them would change. */
    int plain = d->src.ring_size == 0 && d->dst.ring_size == 0 && d->copy_at < 0 &&
                d->src.space != d->dst.space &&
                (d->dst.pitch >= d->tx * d->bpp || !(d->left | d->right | d->top | d->bottom));
    if (plain && tile_in_range(memory, &d->src, from, (d->tx - d->left - d->right) * d->bpp, height) &&
        tile_in_range(memory, &d->dst, to, d->tx * d->bpp, d->ty)) {
        move_plain(d, memory, from, to, ahead);
        return PVA_DMA_MOVED;
    }
    memcpy(pixel, &d->pad_value, sizeof pixel);
    for (int64_t y = 0; y < d->ty; y++) {
        int64_t line = y - d->top;
        int made_up = line < 0 || line >= height;
        int status;
        line = line < 0 ? 0 : line >= height ? height - 1 : line;
        if (made_up && d->pad_mode != PVA_PAD_BPE) {
            status = fill_run(d, memory, to, pixel, d->tx);
        } else {
            status = move_row(d, memory, from + (uint64_t)(line * d->src.pitch), to);
        }
        if (status != PVA_DMA_MOVED) {
            return status;
        }
        to += (uint64_t)d->dst.pitch;
    }
    return PVA_DMA_MOVED;
}

/* Tiles from the cursor on, before `end`; `next`: the descriptor behind this one, or NULL. */
static int move_tiles(const struct pva_descriptor *d, const struct pva_descriptor *next,
                      const struct pva_memory *memory, struct pva_cursor *cursor, uint64_t end)
{
    struct place from, to;
    const int reads = d->dst.space == PVA_VMEM;
    uint64_t source = place_of(&from, &d->src, cursor->tile);
    uint64_t target = place_of(&to, &d->dst, cursor->tile);
    while (cursor->tile < end) {
        uint64_t then_source = next_place(&from), then_target = next_place(&to);
        int64_t ahead = cursor->tile + 1 == (uint64_t)d->tiles
                            ? to_next(d, next, reads, reads ? source : target)
                            : (int64_t)(reads ? then_source - source : then_target - target);
        int status = move_tile(d, memory, source, target, ahead);
        if (status != PVA_DMA_MOVED) {
            return status;
        }
        source = then_source;
        target = then_target;
        cursor->tile++;
    }
    return PVA_DMA_MOVED;
}

/* The same of a descriptor with one tile, as most are. */
static int move_only_tile(const struct pva_descriptor *d, const struct pva_descriptor *next,
                          const struct pva_memory *memory, struct pva_cursor *cursor)
{
    const uint64_t source = (uint64_t)d->src.at, target = (uint64_t)d->dst.at;
    const int reads = d->dst.space == PVA_VMEM;
    int status = move_tile(d, memory, source, target, to_next(d, next, reads, reads ? source : target));
    cursor->tile += status == PVA_DMA_MOVED;
    return status;
}

/* Descriptors of one tile come as fast as they can be read. */
static void look_at(const struct pva_descriptor *later)
{
    for (size_t at = 0; at < sizeof *later; at += LINE) {
        __builtin_prefetch((const char *)later + at);
    }
}

int pva_dma_trigger(const struct pva_descriptor *list, uint64_t count, struct pva_cursor *cursor,
                    const struct pva_memory *memory)
{
    if (cursor->descriptor >= count) {
        return PVA_DMA_ENDED;
    }
    cursor->triggers++;
    for (int go_on = 1; go_on;) {
        const struct pva_descriptor *d = &list[cursor->descriptor];
        const struct pva_descriptor *next = cursor->descriptor + 1 < count ? d + 1 : 0;
        if (cursor->descriptor + 2 < count) {
            look_at(d + 2);
        }
        uint64_t end = least((uint64_t)d->tiles, cursor->tile + (uint64_t)d->per_trigger);
        int status = PVA_DMA_MOVED;
        if (d->tx == 0) {
            cursor->tile = cursor->tile < end ? end : cursor->tile;
        } else if (d->tiles == 1 && cursor->tile < end) {
            status = move_only_tile(d, next, memory, cursor);
        } else {
            status = move_tiles(d, next, memory, cursor, end);
        }
        if (status != PVA_DMA_MOVED) {
            return status;
        }
        go_on = 0;
        if (cursor->tile >= (uint64_t)d->tiles) {
            cursor->descriptor++;
            cursor->tile = 0;
            go_on = d->chained && cursor->descriptor < count;
        }
    }
    return PVA_DMA_MOVED;
}

int pva_dma_run(const struct pva_descriptor *list, uint64_t count, struct pva_cursor *cursor,
                const struct pva_memory *memory)
{
    int status;
    do {
        status = pva_dma_trigger(list, count, cursor, memory);
    } while (status == PVA_DMA_MOVED);
    return status == PVA_DMA_ENDED ? PVA_DMA_MOVED : status;
}
