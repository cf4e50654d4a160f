#ifndef PLAIN_BARRIER_H
#define PLAIN_BARRIER_H

#include <defs.h>

/* The fields that programs fill by hand; wait_queue counts how often it opened. */
typedef struct barrier_t {
    uint8_t wait_queue, count, initial_count, lock;
} barrier_t;

#define BARRIER_INIT(name, number) barrier_t name = {0, (number), (number), 0}

void barrier_wait(barrier_t *barrier);

#endif
