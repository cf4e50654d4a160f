/*
 * Copies of some KiB. The C library takes `rep movsb` for them, which on AMD's Zen 3 and 4 is three times
 * slower than a loop when the target begins a few bytes behind the source, counted within a page: the
 * usual case for a buffer of malloc and the memory of a DPU, which begins with a page.
 */
#ifndef SIM_NATIVE_BLOCK_COPY_H
#define SIM_NATIVE_BLOCK_COPY_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint8_t sim_piece __attribute__((vector_size(16), aligned(1), may_alias));

enum {
    SIM_PAGE = 4096,
    SIM_LINE = 64,    /* bytes of a line of the caches */
    SIM_BEHIND = 512, /* from one byte to so many behind, a store stops the loads of what follows */
    /* Below, and from where the C library no longer takes it, its ways are the better ones. */
    SIM_BLOCK_LEAST = 512,
    SIM_BLOCK_MOST = 16 << 20,
    /* From so many bytes in all on, what is written is not in a cache when it is read. */
    SIM_STREAM_FROM = 16 << 20
};

static inline void sim_copy_line(uint8_t *target, const uint8_t *source)
{
    const sim_piece *from = (const sim_piece *)source;
    sim_piece *to = (sim_piece *)target;
    /* Not an array: gcc would store it, too. */
    sim_piece a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
}

/* Past the caches, into a whole line of them. */
static inline void sim_stream_line(uint8_t *target, const uint8_t *source)
{
#ifdef __SSE2__
    const __m128i *from = (const __m128i *)source;
    __m128i *to = (__m128i *)target;
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
#else
    sim_copy_line(target, source);
#endif
}

/* After streams, before anyone else reads what they wrote. */
static inline void sim_streamed(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* The two do not overlap. */
static inline void sim_copy_block(void *to, const void *from, size_t size, int stream)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if (size < SIM_BLOCK_LEAST || size >= SIM_BLOCK_MOST) {
        memcpy(target, source, size);
        return;
    }
    if (stream) {
        size_t head = -(uintptr_t)target & (SIM_LINE - 1);
        memcpy(target, source, head);
        for (target += head, source += head, size -= head; size >= SIM_LINE; size -= SIM_LINE) {
            sim_stream_line(target, source);
            target += SIM_LINE;
            source += SIM_LINE;
        }
    }
    uintptr_t behind = ((uintptr_t)target - (uintptr_t)source) & (SIM_PAGE - 1);
    for (; behind - 1 < SIM_BEHIND && size >= SIM_LINE; size -= SIM_LINE) {
        sim_copy_line(target, source);
        target += SIM_LINE;
        source += SIM_LINE;
    }
    memcpy(target, source, size);
}

#endif
