#define _GNU_SOURCE /* CPU_COUNT */
#include "native/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum { MAX_THREADS = 64 };

/* Starting a thread and waiting for it takes 30 to 100 us: it must save more. */
static const double NANOSECONDS_PER_THREAD = 200e3;

size_t sim_threads_for(double nanoseconds)
{
    cpu_set_t allowed;
    double threads = nanoseconds / NANOSECONDS_PER_THREAD;
    if (threads < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    size_t cores = (size_t)CPU_COUNT(&allowed);
    cores = cores < MAX_THREADS ? cores : MAX_THREADS;
    return threads < (double)cores ? (size_t)threads : cores;
}

struct job {
    void (*work)(void *);
    void *argument;
};

static void *run(void *pointer)
{
    struct job *job = pointer;
    job->work(job->argument);
    return NULL;
}

void sim_parallel(void (*work)(void *), void *argument, size_t threads)
{
    pthread_t helpers[MAX_THREADS];
    struct job job = {work, argument};
    size_t started = 0;
    if (threads > 1) {
        sigset_t all, old; /* the program's signals are for its own threads */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        while (started < threads - 1 && started < MAX_THREADS &&
               pthread_create(&helpers[started], NULL, run, &job) == 0)
            started++;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    work(argument);
    while (started > 0)
        pthread_join(helpers[--started], NULL);
}
