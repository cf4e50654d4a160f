/*
 * A host callback may throw a C++ exception, call back into us, or never return. None of that is
 * allowed below a Python frame, so callbacks run on threads of their own: one thread a callback
 * that is running at the same time, kept for the next one.
 */
#include <pthread.h>
#include <stdlib.h>

#include "native/native.h"

struct runner {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*fn)(void *);
    void *arg;
    int busy;
    struct runner *next;
};

/* Set in threads that run callbacks. Not __thread: the C library ends the process when it has no
   memory for such a variable of a library that was loaded later. */
static pthread_key_t running;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct runner *idle;

static void *run(void *argument)
{
    struct runner *self = argument;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (self->fn == NULL) {
            pthread_cond_wait(&self->changed, &self->lock);
        }
        pthread_mutex_unlock(&self->lock);
        pthread_setspecific(running, self);
        self->fn(self->arg);
        pthread_setspecific(running, NULL);
        pthread_mutex_lock(&self->lock);
        self->fn = NULL;
        self->busy = 0;
        pthread_cond_broadcast(&self->changed);
    }
    return NULL;
}

static struct runner *new_runner(void)
{
    struct runner *self = calloc(1, sizeof *self);
    pthread_t thread;
    pthread_attr_t attributes;
    if (self == NULL) {
        return NULL;
    }
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &attributes, run, self);
    pthread_attr_destroy(&attributes);
    if (failed) {
        free(self);
        return NULL;
    }
    return self;
}

/* The threads of the parent do not exist in the child. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&idle_lock, NULL);
    idle = NULL;
}

static void begin(void)
{
    pthread_key_create(&running, NULL);
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

int sim_in_callback(void)
{
    pthread_once(&once, begin);
    return pthread_getspecific(running) != NULL;
}

int sim_run_callback(void *fn, void *arg)
{
    pthread_once(&once, begin);
    pthread_mutex_lock(&idle_lock);
    struct runner *self = idle;
    if (self != NULL) {
        idle = self->next;
    }
    pthread_mutex_unlock(&idle_lock);
    if (self == NULL && (self = new_runner()) == NULL) {
        return SIM_NO_THREAD;
    }
    pthread_mutex_lock(&self->lock);
    self->arg = arg;
    self->busy = 1;
    self->fn = (void (*)(void *))fn;
    pthread_cond_broadcast(&self->changed);
    while (self->busy) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    pthread_mutex_lock(&idle_lock);
    self->next = idle;
    idle = self;
    pthread_mutex_unlock(&idle_lock);
    return SIM_CALLED;
}

/* A cudaStreamCallback_t and what it is called with. */
struct stream_callback {
    void (*fn)(void *stream, int status, void *user);
    void *stream;
    int status;
    void *user;
};

static void call_stream_callback(void *argument)
{
    struct stream_callback *call = argument;
    call->fn(call->stream, call->status, call->user);
}

int sim_run_stream_callback(void *fn, void *stream, int status, void *user)
{
    struct stream_callback call = {(void (*)(void *, int, void *))fn, stream, status, user};
    return sim_run_callback((void *)call_stream_callback, &call);
}
