#ifndef PLAIN_SEQREAD_H
#define PLAIN_SEQREAD_H

#include <alloc.h>

#define SEQREAD_CACHE_SIZE 256
typedef uintptr_t seqreader_buffer_t;
typedef struct {
    char *at;
} seqreader_t;

/* MRAM is memory: the reader walks through it. */
static inline seqreader_buffer_t seqread_alloc(void)
{
    return 0;
}

static inline void *seqread_init(seqreader_buffer_t cache, void *mram, seqreader_t *reader)
{
    (void)cache;
    reader->at = mram;
    return mram;
}

static inline void *seqread_get(void *at, uint32_t size, seqreader_t *reader)
{
    (void)reader;
    return (char *)at + size;
}

#endif
