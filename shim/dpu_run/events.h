/*
 * What tasklets do next, in the order of work, in a ring. A new event mostly comes behind the others,
 * where it is put in without moving them. Whoever runs has no event here.
 */
#ifndef DPU_RUN_EVENTS_H
#define DPU_RUN_EVENTS_H

#include "rt.h"

enum what {
    COMPUTES, /* goes on */
    TRIES,    /* tries a bit */
    RELEASES, /* has released a bit, and meanwhile gone on to what it does next */
};

typedef uint32_t event; /* tasklet, what, bit: a byte each */

static inline event event_of(uint32_t tasklet, enum what what, uint32_t bit)
{
    return tasklet | what << 8 | bit << 16;
}

static inline uint32_t event_tasklet(event event)
{
    return event & 0xff;
}

static inline enum what event_what(event event)
{
    return event >> 8 & 0xff;
}

static inline uint32_t event_bit(event event)
{
    return event >> 16;
}

#define NEVER (~0ull)

#define PLACES_OF_EVENTS 32u /* more than tasklets */

/* Times and events apart: both in one would be moved by one load of what two stores have just written,
 * for which a processor waits. */
struct events {
    uint32_t first, end; /* counted on; there is none where they are equal */
    uint64_t at[PLACES_OF_EVENTS]; /* work; of the end: NEVER */
    event queue[PLACES_OF_EVENTS];
    uint32_t ordered;    /* those up to here that are first at once are in the order of round robin, */
    uint64_t ordered_at; /* when they are at this time: see events_order */
};

static inline void events_begin(struct events *events)
{
    events->first = events->end = events->ordered = 0;
    events->at[0] = events->ordered_at = NEVER;
}

static inline uint64_t events_at(const struct events *events, uint32_t i)
{
    return events->at[i % PLACES_OF_EVENTS];
}

static inline event events_of(const struct events *events, uint32_t i)
{
    return events->queue[i % PLACES_OF_EVENTS];
}

static inline void events_put(struct events *events, uint32_t i, uint64_t at, event event)
{
    events->at[i % PLACES_OF_EVENTS] = at;
    events->queue[i % PLACES_OF_EVENTS] = event;
}

static inline void events_add(struct events *events, uint64_t at, event event)
{
    uint32_t i = events->end++;
    events->at[events->end % PLACES_OF_EVENTS] = NEVER;
    for (; i != events->first && events_at(events, i - 1) > at; i--)
        events_put(events, i, events_at(events, i - 1), events_of(events, i - 1));
    events_put(events, i, at, event);
}

static inline uint32_t events_behind(const struct events *events, uint32_t i, uint32_t last)
{
    return (events_of(events, i) - last - 1) & 31;
}

/* Puts those that are first at once in the order of round robin: mostly they have come in it. */
static __attribute__((noinline)) void events_sort(struct events *events, uint32_t last)
{
    uint32_t i = events->first + 1;
    for (; events_at(events, i) == events_at(events, events->first); i++) {
        event found = events_of(events, i);
        uint32_t to = i, behind = (found - last - 1) & 31;
        for (; to != events->first && events_behind(events, to - 1, last) > behind; to--)
            events->queue[to % PLACES_OF_EVENTS] = events_of(events, to - 1);
        events->queue[to % PLACES_OF_EVENTS] = found;
    }
    events->ordered = i;
    events->ordered_at = events_at(events, events->first);
}

/*
 * Of those that are first at once the one that comes next by round robin becomes the first. When the ones
 * behind it follow, they still are in order: whoever had the turn since was one of them. Any other event
 * would have come before them, and they would have moved up, beyond `ordered`.
 */
static inline void events_order(struct events *events, uint32_t last)
{
    uint64_t at = events_at(events, events->first);
    if (events_at(events, events->first + 1) != at)
        return;
    if (events->ordered_at != at || events_at(events, events->ordered) == at
        || events->ordered - events->first >= PLACES_OF_EVENTS)
        events_sort(events, last);
}

#endif
