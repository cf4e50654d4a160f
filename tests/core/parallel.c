/* Jobs of several threads: all is done once, from many callers at a time, and after fork(). */
#include "native/parallel.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 5000, THREADS = 4, CALLERS = 3, JOBS = 200 };

struct items {
    size_t next;
    uint8_t done[ITEMS];
};

static void some(void *argument)
{
    struct items *items = argument;
    for (;;) {
        size_t i = __atomic_fetch_add(&items->next, 1, __ATOMIC_RELAXED);
        if (i >= ITEMS)
            return;
        items->done[i]++; /* by one thread only, which the caller has waited for when it looks */
    }
}

/* How many jobs did not do each item once. */
static intptr_t wrong(void)
{
    intptr_t found = 0;
    for (int job = 0; job < JOBS; job++) {
        struct items items = {0};
        int right = 1;
        sim_parallel(some, &items, 1 + (size_t)job % THREADS);
        for (int i = 0; i < ITEMS; i++)
            right &= items.done[i] == 1;
        found += !right;
    }
    return found;
}

static void *call(void *argument)
{
    (void)argument;
    return (void *)wrong();
}

static intptr_t wrong_of_many(void)
{
    pthread_t callers[CALLERS];
    intptr_t all = 0;
    void *found;
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&callers[i], NULL, call, NULL);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], &found);
        all += (intptr_t)found;
    }
    return all;
}

int main(void)
{
    int status = -1;
    intptr_t here = wrong_of_many();
    pid_t child = fork();
    if (child == 0)
        _exit(wrong_of_many() != 0);
    waitpid(child, &status, 0);
    printf("%d %d\n", (int)here, status);
    return 0;
}
