/*
 * A tile without circular buffers and replication, from one memory to another: rows as they come, then the
 * padding around them. A part of dma.c: the call would cost a tenth of a small tile.
 */
#ifndef CUDLA_SIM_VPU_TILE_H
#define CUDLA_SIM_VPU_TILE_H

#include "dma.h"

#include <string.h>

#ifdef CUDLA_SIM_BUILD /* the DMA engine of the library; programs of VPUs have one of their own */
#include "native/cpu.h"
#define HAS_AVX2 (sim_cpu() & SIM_CPU_AVX2)
#else
#define AVX2_VECTORS __attribute__((target("avx2")))
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#endif

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

/* Rows of one length. `next`: where those of the next tile lie, on the side that is not VMEM; `near`: so
 * near to these that only the line of their last byte is new. */
struct rows {
    uint8_t *to;
    const uint8_t *from, *next;
    int64_t to_pitch, from_pitch, next_pitch;
    int64_t count;
    int near;
};

/* Looks ahead as it goes: the processor sees no pattern in rows that lie far apart. */
INLINED void copy_rows_of(const struct rows *r, size_t size, size_t wides)
{
    uint8_t *to = r->to;
    const uint8_t *from = r->from, *next = r->next;
    const int64_t to_pitch = r->to_pitch, from_pitch = r->from_pitch, next_pitch = r->next_pitch;
    int64_t left = r->count;
    if (r->near) {
        next += size - 1;
        for (; left > 0; left--, to += to_pitch, from += from_pitch, next += next_pitch) {
            __builtin_prefetch(next);
            copy_row(to, from, size, wides);
        }
        return;
    }
    for (; left > 0; left--, to += to_pitch, from += from_pitch, next += next_pitch) {
        for (size_t at = 0; at + 1 < size; at += LINE) {
            __builtin_prefetch(next + at);
        }
        __builtin_prefetch(next + size - 1);
        copy_row(to, from, size, wides);
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

/* Lines above or below a tile: the `nearest` one that is there, or (NULL) a constant. */
static void fill_lines(const struct pva_descriptor *d, uint8_t *line, int64_t count,
                       const uint8_t *nearest)
{
    for (; count > 0; count--, line += d->dst.pitch) {
        if (nearest != 0) {
            memcpy(line, nearest, (size_t)(d->tx * d->bpp));
        } else {
            fill(line, (const uint8_t *)&d->pad_value, d->tx, d->bpp);
        }
    }
}

/* Both sides lie in their spaces, which differ. `ahead`: how many bytes behind this tile the next one lies,
 * on the side that is not VMEM; only the time depends on it. */
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
        .next_pitch = reads ? d->src.pitch : d->dst.pitch,
        .count = height,
        .near = ahead >= -LINE && ahead <= LINE,
    };
    rows.next = (reads ? source : rows.to) + ahead;
    copy_rows(&rows, width);
    if (d->left > 0) {
        fill_side(rows.to - left, d->dst.pitch, height, d->left, bpp, constant, nearest ? left : 0);
    }
    if (d->right > 0) {
        fill_side(rows.to + width, d->dst.pitch, height, d->right, bpp, constant, nearest ? -bpp : 0);
    }
    if (d->top > 0) {
        fill_lines(d, target, d->top, nearest ? rows.to - left : 0);
    }
    if (d->bottom > 0) {
        uint8_t *below = target + (d->top + height) * d->dst.pitch;
        fill_lines(d, below, d->bottom, nearest ? below - d->dst.pitch : 0);
    }
}

#endif
