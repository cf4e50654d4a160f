/*
 * Tasklets that retry a bit: for each bit a ring in the order of their places in the turn. Nothing
 * happens in a retry that fails, so only a release looks for the one that comes next. It is mostly the
 * one behind the tasklet that took the bit last, where the search begins; a new one mostly has its
 * place behind the one that came last.
 */
#ifndef DPU_RUN_RETRIES_H
#define DPU_RUN_RETRIES_H

#include "rt.h"

#define NOBODY 0xffu
#define PLACE_BITS 17 /* of a turn: see INSTRUCTION in order.h */
#define PLACES ((32u << PLACE_BITS) - 1)

struct retries {
    uint32_t place[MAX_TASKLETS]; /* and the tasklet below: no two are equal */
    uint8_t next[MAX_TASKLETS], previous[MAX_TASKLETS];
    uint8_t ring[ATOMIC_BITS]; /* one of those that retry the bit, or NOBODY */
    uint8_t entry[ATOMIC_BITS]; /* the one behind the last that came; only where there is a ring */
};

static inline void retries_begin(struct retries *r)
{
    for (uint32_t i = 0; i < ATOMIC_BITS; i++)
        r->ring[i] = NOBODY;
}

static inline uint32_t retries_passes(const struct retries *r, uint32_t tasklet, uint32_t place)
{
    return (r->place[tasklet] - place) & PLACES;
}

/* The one that retries next at or after a place; `found`: one in its ring. */
static inline uint32_t retries_first(const struct retries *r, uint32_t found, uint32_t place)
{
    while (retries_passes(r, r->previous[found], place) < retries_passes(r, found, place))
        found = r->next[found];
    return found;
}

static inline void retries_add(struct retries *r, uint32_t bit, uint32_t tasklet, uint64_t at)
{
    uint32_t place = (uint32_t)at << 5 | tasklet;
    r->place[tasklet] = place;
    if (r->ring[bit] == NOBODY) {
        r->ring[bit] = r->entry[bit] = r->next[tasklet] = r->previous[tasklet] = (uint8_t)tasklet;
        return;
    }
    uint32_t behind = retries_first(r, r->entry[bit], place), before = r->previous[behind];
    r->entry[bit] = (uint8_t)behind;
    r->next[tasklet] = (uint8_t)behind;
    r->previous[behind] = (uint8_t)tasklet;
    r->previous[tasklet] = (uint8_t)before;
    r->next[before] = (uint8_t)tasklet;
}

static inline void retries_remove(struct retries *r, uint32_t bit, uint32_t tasklet)
{
    uint32_t before = r->previous[tasklet], behind = r->next[tasklet];
    r->next[before] = (uint8_t)behind;
    r->previous[behind] = (uint8_t)before;
    r->ring[bit] = behind == tasklet ? NOBODY : (uint8_t)behind;
    if (r->entry[bit] == tasklet)
        r->entry[bit] = (uint8_t)behind;
}

#endif
