/*
 * Giving memory of DPUs back beside the program: a gigabyte takes a tenth of a second. Where the system
 * has no thread for it, it is done at once. And zeroing what is there, for memory that is used again.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/native.h"
#include "native/parallel.h"

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

struct zeroing {
    int file;
    uint64_t base, next, end; /* next: atomic, what no thread has taken */
};

static void zero_some(void *argument)
{
    enum { PIECE = 2 << 20 };
    struct zeroing *job = argument;
    for (;;) {
        uint64_t from = __atomic_fetch_add(&job->next, PIECE, __ATOMIC_RELAXED);
        uint64_t end = from + PIECE < job->end ? from + PIECE : job->end;
        while (from < end) {
            off_t data = lseek(job->file, (off_t)from, SEEK_DATA);
            if (data < 0 || (uint64_t)data >= end) {
                break;
            }
            off_t hole = lseek(job->file, data, SEEK_HOLE);
            from = hole > data && (uint64_t)hole < end ? (uint64_t)hole : end;
            memset((void *)(uintptr_t)(job->base + (uint64_t)data), 0, from - (uint64_t)data);
        }
        if (end == job->end) {
            return;
        }
    }
}

void sim_dpu_zero(int file, uint64_t base, uint64_t offset, uint64_t size)
{
    struct zeroing job = {file, base, offset, offset + size};
    struct stat about;
    double bytes = fstat(file, &about) == 0 ? (double)about.st_blocks * 512 : 0;
    sim_parallel(zero_some, &job, sim_threads_for(bytes / 10));
}
