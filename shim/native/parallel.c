#define _GNU_SOURCE /* CPU_COUNT */
#include "native/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum { MAX_THREADS = 64 };

/* Waking a helper takes 10 to 30 us: it must save more. */
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

/* On its caller's stack; in the list while helpers may still begin. */
struct job {
    void (*work)(void *);
    void *argument;
    size_t wanted, running; /* helpers that may begin, that have begun and not ended */
    cpu_set_t cores;        /* where its caller may run */
    struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begin = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static struct job *jobs;
static size_t helpers;

/* The threads of the parent do not exist in the child. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&begin, NULL);
    pthread_cond_init(&ended, NULL);
    jobs = NULL;
    helpers = 0;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

static void withdraw(struct job *job)
{
    for (struct job **link = &jobs; *link != NULL; link = &(*link)->next) {
        if (*link == job) {
            *link = job->next;
            return;
        }
    }
}

static void *help(void *argument)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0)
        CPU_ZERO(&cores);
    pthread_mutex_lock(&lock);
    for (;;) {
        while (jobs == NULL)
            pthread_cond_wait(&begin, &lock);
        struct job *job = jobs;
        if (--job->wanted == 0)
            withdraw(job);
        job->running++;
        pthread_mutex_unlock(&lock);
        if (!CPU_EQUAL(&cores, &job->cores) &&
            sched_setaffinity(0, sizeof job->cores, &job->cores) == 0)
            cores = job->cores;
        job->work(job->argument);
        pthread_mutex_lock(&lock);
        if (--job->running == 0)
            pthread_cond_broadcast(&ended);
    }
    return argument;
}

/* With the lock held: as many helpers as the largest job asked for, if the system gives them. */
static void hire(size_t wanted)
{
    sigset_t all, old; /* the program's signals are for its own threads */
    pthread_t thread;
    pthread_attr_t detached;
    if (helpers >= wanted)
        return;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (helpers < wanted && pthread_create(&thread, &detached, help, NULL) == 0)
        helpers++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&detached);
}

void sim_parallel(void (*work)(void *), void *argument, size_t threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct job job = {.work = work, .argument = argument};
    if (threads <= 1 || sched_getaffinity(0, sizeof job.cores, &job.cores) != 0) {
        work(argument);
        return;
    }
    pthread_once(&once, watch_forks);
    job.wanted = (threads < MAX_THREADS ? threads : MAX_THREADS) - 1;
    pthread_mutex_lock(&lock);
    hire(job.wanted);
    job.next = jobs;
    jobs = &job;
    pthread_mutex_unlock(&lock);
    for (size_t i = 1; i < threads && i < MAX_THREADS; i++)
        pthread_cond_signal(&begin);
    work(argument);
    pthread_mutex_lock(&lock);
    withdraw(&job);
    while (job.running != 0)
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
}
