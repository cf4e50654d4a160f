/*
 * Moves tiles. Rows are copied whole where addresses are consecutive; only circular buffers need a
 * second piece at the wrap.
 */
#include "dma.h"

#include <string.h>

#ifdef CUDLA_SIM_BUILD /* the DMA engine of the library; programs of VPUs have one of their own */
#include "native/cpu.h"
#define HAS_AVX2 (sim_cpu() & SIM_CPU_AVX2)
#else
#define AVX2_VECTORS __attribute__((target("avx2")))
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#endif

static uint64_t tile_offset(const struct pva_side *side, uint64_t tile)
{
    int64_t offset = 0;
    for (int i = 0; i < 3 && tile != 0; i++) { /* most descriptors have one tile */
        offset += (int64_t)(tile % (uint64_t)side->n[i]) * side->adv[i];
        tile /= (uint64_t)side->n[i];
    }
    return (uint64_t)(side->at + offset);
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

static void fill(uint8_t *to, const uint8_t *pixel, int64_t count, int64_t bpp)
{
    if (bpp == 1) {
        memset(to, *pixel, (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + i * bpp, pixel, (size_t)bpp);
    }
}

typedef uint8_t wide __attribute__((vector_size(32), aligned(1), may_alias));

/* Short rows: what a call of memcpy costs would be most of their time. */
static inline __attribute__((always_inline)) void copy_short(uint8_t *to, const uint8_t *from,
                                                             size_t size)
{
    if (size > 128) {
        memcpy(to, from, size);
        return;
    }
    size_t at = 0;
    for (; at + 32 <= size; at += 32) {
        *(wide *)(to + at) = *(const wide *)(from + at);
    }
    if (at == size) {
        return;
    }
    if (size >= 32) { /* the last 32 bytes, some of them twice */
        *(wide *)(to + size - 32) = *(const wide *)(from + size - 32);
        return;
    }
    if (size >= 16) {
        __builtin_memcpy(to, from, 16);
        __builtin_memcpy(to + size - 16, from + size - 16, 16);
        return;
    }
    for (; at < size; at++) {
        to[at] = from[at];
    }
}

enum { LINE = 64 };

/* What the next tile will touch of a row; the processor sees no pattern in rows that lie far apart. */
static inline __attribute__((always_inline)) void look_ahead(const uint8_t *row, size_t size, int write)
{
    for (size_t at = 0; at < size; at += LINE) {
        if (write) {
            __builtin_prefetch(row + at, 1);
        } else {
            __builtin_prefetch(row + at, 0);
        }
    }
    if (write) {
        __builtin_prefetch(row + size - 1, 1);
    } else {
        __builtin_prefetch(row + size - 1, 0);
    }
}

/* Rows of one length; `ahead` bytes behind them lie those of the next tile, on the side that is not
 * VMEM. */
struct rows {
    uint8_t *to;
    const uint8_t *from;
    int64_t to_pitch, from_pitch, ahead;
    int64_t count;
    int reads;
};

static inline __attribute__((always_inline)) void copy_rows_of(const struct rows *r, size_t size)
{
    uint8_t *to = r->to;
    const uint8_t *from = r->from;
    const int64_t ahead = r->ahead, to_pitch = r->to_pitch, from_pitch = r->from_pitch;
    int64_t left = r->count;
    if (r->reads) {
        for (; left > 0; left--, to += to_pitch, from += from_pitch) {
            look_ahead(from + ahead, size, 0);
            copy_short(to, from, size);
        }
    } else {
        for (; left > 0; left--, to += to_pitch, from += from_pitch) {
            look_ahead(to + ahead, size, 1);
            copy_short(to, from, size);
        }
    }
}

/* Lengths that programs use are copied without a loop. */
#define COPY_ROWS                                  \
    switch (size) {                                \
    case 16: copy_rows_of(r, 16); break;           \
    case 32: copy_rows_of(r, 32); break;           \
    case 64: copy_rows_of(r, 64); break;           \
    case 66: copy_rows_of(r, 66); break;           \
    case 68: copy_rows_of(r, 68); break;           \
    case 128: copy_rows_of(r, 128); break;         \
    default: copy_rows_of(r, (size_t)size);        \
    }

#if defined(__x86_64__)
AVX2_VECTORS static void copy_rows_avx2(const struct rows *r, int64_t size)
{
    COPY_ROWS
}
#endif

static void copy_rows(const struct rows *r, int64_t size)
{
#if defined(__x86_64__)
    if (HAS_AVX2) {
        copy_rows_avx2(r, size);
        return;
    }
#endif
    COPY_ROWS
}

/* 1 when every byte of a tile lies in its space: then rows need not be looked at one by one. */
static int tile_in_range(const struct pva_memory *memory, const struct pva_side *side,
                         uint64_t start, int64_t width, int64_t height)
{
    return side->pitch >= 0 &&
           in_range(memory, side->space, start, (uint64_t)((height - 1) * side->pitch + width));
}

/* How far from this tile the next one begins, on one side; 0 when that is not known. */
static int64_t to_next(const struct pva_descriptor *d, const struct pva_descriptor *next, int reads,
                       uint64_t tile, uint64_t start)
{
    const struct pva_side *side = reads ? &d->src : &d->dst;
    if (tile + 1 < (uint64_t)d->tiles) {
        return (int64_t)(tile_offset(side, tile + 1) - start);
    }
    if (next == 0) {
        return 0;
    }
    const struct pva_side *then = reads ? &next->src : &next->dst;
    return then->space == side->space ? then->at - (int64_t)start : 0;
}

/* A tile without circular buffers and replication, between two memories. */
static void move_plain(const struct pva_descriptor *d, const struct pva_memory *memory,
                       uint64_t from, uint64_t to, int64_t ahead)
{
    const uint8_t *source = memory->base[d->src.space] + from;
    uint8_t *target = memory->base[d->dst.space] + to;
    int64_t bpp = d->bpp, height = d->ty - d->top - d->bottom;
    int64_t left = d->left * bpp, width = (d->tx - d->left - d->right) * bpp;
    const uint8_t *constant = (const uint8_t *)&d->pad_value;
    int nearest = d->pad_mode == PVA_PAD_BPE, reads = d->dst.space == PVA_VMEM;
    struct rows rows = {
        .to = target + d->top * d->dst.pitch + left,
        .from = source,
        .to_pitch = d->dst.pitch,
        .from_pitch = d->src.pitch,
        .ahead = ahead,
        .count = height,
        .reads = reads,
    };
    copy_rows(&rows, width);
    if (d->left > 0 || d->right > 0) {
        uint8_t *row = rows.to;
        for (int64_t y = 0; y < height; y++, row += d->dst.pitch) {
            fill(row - left, nearest ? row : constant, d->left, bpp);
            fill(row + width, nearest ? row + width - bpp : constant, d->right, bpp);
        }
    }
    for (int64_t y = 0; y < d->ty; y++) {
        uint8_t *row = target + y * d->dst.pitch;
        int64_t kept = y < d->top ? d->top : d->top + height - 1; /* a row that is there */
        if (y >= d->top && y < d->top + height) {
            continue;
        }
        if (nearest) {
            memcpy(row, target + kept * d->dst.pitch, (size_t)(d->tx * bpp));
        } else {
            fill(row, constant, d->tx, bpp);
        }
    }
}

static int move_tile(const struct pva_descriptor *d, const struct pva_descriptor *next,
                     const struct pva_memory *memory, uint64_t tile)
{
    uint64_t from = tile_offset(&d->src, tile), to = tile_offset(&d->dst, tile);
    int64_t height = d->ty - d->top - d->bottom;
    uint8_t pixel[8];
    /* Rows that overlap are written in their order, which padding behind them would change. */
    int plain = d->src.ring_size == 0 && d->dst.ring_size == 0 && d->copy_at < 0 &&
                d->src.space != d->dst.space &&
                (d->dst.pitch >= d->tx * d->bpp || !(d->left | d->right | d->top | d->bottom));
    if (plain && tile_in_range(memory, &d->src, from, (d->tx - d->left - d->right) * d->bpp, height) &&
        tile_in_range(memory, &d->dst, to, d->tx * d->bpp, d->ty)) {
        int reads = d->dst.space == PVA_VMEM;
        move_plain(d, memory, from, to, to_next(d, next, reads, tile, reads ? from : to));
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
        uint64_t end = least((uint64_t)d->tiles, cursor->tile + (uint64_t)d->per_trigger);
        for (; cursor->tile < end; cursor->tile++) {
            int status = d->tx == 0 ? PVA_DMA_MOVED : move_tile(d, next, memory, cursor->tile);
            if (status != PVA_DMA_MOVED) {
                return status;
            }
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
