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

#define INLINED static inline __attribute__((always_inline))

/* `pixels`: as many as 8 bytes hold. Halos are a few pixels: a call of memset for each row would cost
 * more than the rest of the tile. */
INLINED void fill_few(uint8_t *to, uint64_t pixels, size_t size)
{
    if (size == 1) {
        *to = (uint8_t)pixels;
    } else if (size == 2) {
        __builtin_memcpy(to, &pixels, 2);
    } else if (size == 3) {
        __builtin_memcpy(to, &pixels, 2);
        to[2] = (uint8_t)pixels;
    } else if (size < 8) {
        __builtin_memcpy(to, &pixels, 4);
        __builtin_memcpy(to + size - 4, &pixels, 4);
    } else {
        __builtin_memcpy(to, &pixels, 8);
        __builtin_memcpy(to + size - 8, &pixels, 8);
    }
}

static uint64_t repeated(const uint8_t *pixel, int64_t bpp)
{
    uint64_t pixels = 0;
    memcpy(&pixels, pixel, (size_t)bpp);
    for (int64_t bytes = bpp; bytes < 8; bytes *= 2) {
        pixels |= pixels << 8 * bytes;
    }
    return pixels;
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

/* `count` pixels beside each row of a tile: a constant, or those at `nearest` bytes from them. */
static void fill_side(uint8_t *row, int64_t pitch, int64_t rows, int64_t count, int64_t bpp,
                      const uint8_t *constant, int64_t nearest)
{
    const int64_t size = count * bpp;
    const int few = size <= 16 && bpp <= 8 && (bpp & (bpp - 1)) == 0;
    uint64_t pixels = few ? repeated(constant, bpp) : 0;
    for (int64_t y = 0; y < rows; y++, row += pitch) {
        const uint8_t *pixel = nearest != 0 ? row + nearest : constant;
        if (!few) {
            fill(row, pixel, count, bpp);
        } else if (nearest != 0) {
            fill_few(row, repeated(pixel, bpp), (size_t)size);
        } else {
            fill_few(row, pixels, (size_t)size);
        }
    }
}

typedef uint8_t wide __attribute__((vector_size(32), aligned(1), may_alias));

enum { WIDE = sizeof(wide), LINE = 64, MOST_WIDES = 4 };

/*
 * A row of `wides` vectors, the last of which may lie over the one before: what a call of memcpy costs
 * would be most of a short row's time. 0: any other length.
 */
INLINED void copy_row(uint8_t *to, const uint8_t *from, size_t size, size_t wides)
{
    if (wides != 0) {
        for (size_t i = 0; i + 1 < wides; i++) {
            *(wide *)(to + i * WIDE) = *(const wide *)(from + i * WIDE);
        }
        *(wide *)(to + size - WIDE) = *(const wide *)(from + size - WIDE);
    } else if (size > WIDE) {
        memcpy(to, from, size);
    } else if (size >= 16) {
        __builtin_memcpy(to, from, 16);
        __builtin_memcpy(to + size - 16, from + size - 16, 16);
    } else {
        for (size_t at = 0; at < size; at++) {
            to[at] = from[at];
        }
    }
}

/* What the next tile will touch of a row; the processor sees no pattern in rows that lie far apart. */
INLINED void look_ahead(const uint8_t *row, size_t size, size_t wides, int write)
{
    const size_t lines = wides != 0 ? (wides * WIDE + LINE - 1) / LINE : (size + LINE - 1) / LINE;
    for (size_t i = 0; i < lines; i++) {
        if (write) {
            __builtin_prefetch(row + i * LINE, 1);
        } else {
            __builtin_prefetch(row + i * LINE, 0);
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

INLINED void copy_rows_of(const struct rows *r, size_t size, size_t wides)
{
    uint8_t *to = r->to;
    const uint8_t *from = r->from;
    const int64_t ahead = r->ahead, to_pitch = r->to_pitch, from_pitch = r->from_pitch;
    int64_t left = r->count;
    if (r->reads) {
        for (; left > 0; left--, to += to_pitch, from += from_pitch) {
            look_ahead(from + ahead, size, wides, 0);
            copy_row(to, from, size, wides);
        }
    } else {
        for (; left > 0; left--, to += to_pitch, from += from_pitch) {
            look_ahead(to + ahead, size, wides, 1);
            copy_row(to, from, size, wides);
        }
    }
}

/* A loop for each number of vectors, and one for each length that programs use most. */
INLINED void copy_rows_by(const struct rows *r, size_t size)
{
    switch (size) {
    case 32: copy_rows_of(r, 32, 1); return;
    case 34: copy_rows_of(r, 34, 2); return;
    case 64: copy_rows_of(r, 64, 2); return;
    case 66: copy_rows_of(r, 66, 3); return;
    case 68: copy_rows_of(r, 68, 3); return;
    default: break;
    }
    switch (size < WIDE ? 0 : (size + WIDE - 1) / WIDE) {
    case 1: copy_rows_of(r, size, 1); break;
    case 2: copy_rows_of(r, size, 2); break;
    case 3: copy_rows_of(r, size, 3); break;
    case MOST_WIDES: copy_rows_of(r, size, MOST_WIDES); break;
    default: copy_rows_of(r, size, 0);
    }
}

#if defined(__x86_64__)
AVX2_VECTORS static void copy_rows_avx2(const struct rows *r, int64_t size)
{
    copy_rows_by(r, (size_t)size);
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
    copy_rows_by(r, (size_t)size);
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
    if (d->left > 0) {
        fill_side(rows.to - left, d->dst.pitch, height, d->left, bpp, constant, nearest ? left : 0);
    }
    if (d->right > 0) {
        fill_side(rows.to + width, d->dst.pitch, height, d->right, bpp, constant, nearest ? -bpp : 0);
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

/* `ahead`: see struct rows. */
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
