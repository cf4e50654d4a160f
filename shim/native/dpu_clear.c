/*
 * Giving memory of DPUs back beside the program: a gigabyte takes a tenth of a second. Where the system
 * has no thread for it, it is done at once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "native/native.h"

struct clearing {
    pthread_t thread;
    int file;
    uint64_t offset, size;
};

static void *clear(void *argument)
{
    const struct clearing *job = argument;
    fallocate(job->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)job->offset,
              (off_t)job->size);
    return NULL;
}

void *sim_dpu_clear(int file, uint64_t offset, uint64_t size)
{
    struct clearing now = {.file = file, .offset = offset, .size = size};
    struct clearing *job = malloc(sizeof *job);
    int started = 0;
    if (job != NULL) {
        sigset_t all, old; /* the program's signals are for its own threads */
        *job = now;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        started = pthread_create(&job->thread, NULL, clear, job) == 0;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    if (!started) {
        free(job);
        clear(&now);
        return NULL;
    }
    return job;
}

void sim_dpu_cleared(void *clearing)
{
    struct clearing *job = clearing;
    if (job != NULL) {
        pthread_join(job->thread, NULL);
        free(job);
    }
}
