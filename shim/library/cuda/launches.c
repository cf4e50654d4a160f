/* The item of a stream that launches join, and the thread that works on it. */
#include "library/cuda/launches.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "boot.h"
#include "generated/hand_written.h"
#include "internal.h"

enum {
    MOST_PENDING = 4096, /* then the program waits, as it does when a GPU's queue is full */
    PAUSES = 64,         /* between two looks at the clock */
};
static const int64_t LINGER_NS = 40000; /* what starting a new item would cost */

struct launch {
    void (*run)(void *);
    void (*drop)(void *);
    void (*tell)(void *, void *); /* what it is of, or NULL */
    void *data;
};

struct sim_launches {
    struct launch *pending;
    size_t count, room;
    uintptr_t stream;
    pthread_t thread; /* whose own stream it is, for that handle */
    int closed;
    int busy;  /* launches of it run */
    int alone; /* no other stream had work when it was opened */
    int *over; /* set when all of it has ended and nothing joins it */
    int references; /* of the stream's item, of who launches, and of who waits */
    int status;
    char text[512];
    void **arguments; /* those of the launch in a node, once they were asked for */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t taken = PTHREAD_COND_INITIALIZER;
static struct sim_launches *current; /* the open one, which has no reference of its own */
static __thread struct sim_launches *running;
static __thread unsigned in_kernels; /* whose blocks this thread runs: a kernel's, and those that launched it */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread int collecting; /* launches of this thread become nodes */
static __thread struct sim_launches *collected;

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&taken, NULL);
    current = NULL;
}

static void begin(void) { pthread_atfork(NULL, NULL, in_child); }

/* --- called with the lock held ---------------------------------------------------------------- */

static int add(struct sim_launches *to, struct launch launch)
{
    if (to->count == to->room) {
        size_t wanted = to->room == 0 ? 16 : to->room * 2;
        struct launch *larger = realloc(to->pending, wanted * sizeof *larger);
        if (larger == NULL) { return 0; }
        to->pending = larger;
        to->room = wanted;
    }
    to->pending[to->count] = launch;
    __atomic_store_n(&to->count, to->count + 1, __ATOMIC_RELEASE);
    return 1;
}

static int has_work(const struct sim_launches *of)
{
    return __atomic_load_n(&of->count, __ATOMIC_ACQUIRE) != 0 || __atomic_load_n(&of->busy, __ATOMIC_ACQUIRE);
}

static void close_it(struct sim_launches *of)
{
    __atomic_store_n(&of->closed, 1, __ATOMIC_RELEASE);
    if (of->over != NULL && !has_work(of)) { __atomic_store_n(of->over, 1, __ATOMIC_RELEASE); }
    if (current == of) { current = NULL; }
    pthread_cond_broadcast(&taken);
}

static void release(struct sim_launches *of)
{
    if (--of->references == 0) {
        free(of->arguments);
        free(of->pending);
        free(of);
    }
}

static int takes(const struct sim_launches *of, uintptr_t stream)
{
    if (of == NULL || of->closed || of->stream != stream) { return 0; }
    return stream != (uintptr_t)cudaStreamPerThread || pthread_equal(of->thread, pthread_self());
}

/* --- who launches ----------------------------------------------------------------------------- */

static int join(uintptr_t stream, struct launch launch)
{
    pthread_mutex_lock(&lock);
    while (takes(current, stream) && current->count >= MOST_PENDING) {
        pthread_cond_wait(&taken, &lock);
    }
    int joined = takes(current, stream) && add(current, launch);
    pthread_mutex_unlock(&lock);
    return joined;
}

SIM_EXPORT cudaError_t sim____cudlaSimLaunchOf(cudaStream_t stream, const char *kernel,
                                               void (*run)(void *), void (*drop)(void *),
                                               void (*tell)(void *, void *), void *data)
{
    uintptr_t number = stream == cudaStreamLegacy ? 0 : (uintptr_t)stream;
    struct launch launch = {run, drop, tell, data};
    if (run == NULL || drop == NULL) {
        return sim____cudlaSimRefuse(cudaErrorInvalidValue, "run or drop is NULL; they are functions");
    }
    if (!collecting && join(number, launch)) { return cudaSuccess; }
    pthread_once(&once, begin);
    struct sim_launches *made = calloc(1, sizeof *made);
    if (made == NULL || !add(made, launch)) {
        free(made);
        return cudaErrorMemoryAllocation;
    }
    made->stream = number;
    made->thread = pthread_self();
    if (collecting) {
        made->references = 1;
        collected = made;
        return cudaSuccess;
    }
    made->references = 2;
    cudaError_t error = sim__cuda_launch(stream, made, kernel);
    pthread_mutex_lock(&lock);
    if (error != cudaSuccess) { release(made); } /* no item: its reference */
    release(made);
    pthread_mutex_unlock(&lock);
    return error;
}

SIM_EXPORT cudaError_t sim____cudlaSimLaunch(cudaStream_t stream, const char *kernel,
                                             void (*run)(void *), void (*drop)(void *), void *data)
{
    return sim____cudlaSimLaunchOf(stream, kernel, run, drop, NULL, data);
}

SIM_EXPORT void sim____cudlaSimFault(cudaError_t error, const char *explanation)
{
    if (running == NULL || running->status != 0) { return; }
    running->status = (int)error;
    if (explanation != NULL) { strncpy(running->text, explanation, sizeof running->text - 1); }
}

SIM_EXPORT void sim____cudlaSimInKernel(int begins)
{
    if (begins == 1) {
        in_kernels++;
    } else if (begins == 0 && in_kernels > 0) {
        in_kernels--;
    } /* nothing else is a kernel's engine */
}

SIM_EXPORT cudaError_t sim____cudlaSimRefuse(cudaError_t error, const char *explanation)
{
    if (error == cudaSuccess) { error = cudaErrorInvalidValue; }
    sim__cuda_refuse((int)error, explanation != NULL ? explanation : "");
    return error;
}

SIM_EXPORT cudaError_t sim____cudlaSimVariable(void *address, size_t size)
{
    return sim__cuda_variable(address, size);
}

SIM_EXPORT unsigned int sim____cudlaSimChecks(void) { return sim__cuda_checks(); }

SIM_EXPORT size_t sim____cudlaSimRanges(void **bounds, size_t room)
{
    return sim__cuda_ranges(bounds, bounds == NULL ? 0 : room);
}

/* --- Python ----------------------------------------------------------------------------------- */

void sim_cuda_collect(void)
{
    collecting = 1;
    collected = NULL;
}

void *sim_cuda_collected(void)
{
    collecting = 0;
    return collected;
}

void sim_cuda_open(void *launches, int alone, int *over)
{
    struct sim_launches *of = launches;
    pthread_mutex_lock(&lock);
    of->alone = alone;
    of->over = over;
    if (!of->closed) { current = of; }
    pthread_mutex_unlock(&lock);
}

void sim_cuda_close(void)
{
    if (__atomic_load_n(&current, __ATOMIC_ACQUIRE) == NULL) { return; }
    pthread_mutex_lock(&lock);
    if (current != NULL) { close_it(current); }
    pthread_mutex_unlock(&lock);
}

int sim_cuda_in_kernel(void) { return in_kernels > 0; }

int sim_cuda_failed(void *launches, char *text, size_t size)
{
    struct sim_launches *of = launches;
    if (of->status != 0 && size > 0) {
        strncpy(text, of->text, size - 1);
        text[size - 1] = 0;
    }
    return of->status;
}

void sim_cuda_free(void *launches)
{
    struct sim_launches *of = launches;
    pthread_mutex_lock(&lock);
    close_it(of);
    size_t count = of->count;
    struct launch *left = of->pending;
    of->pending = NULL;
    of->count = of->room = 0;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < count; i++) { left[i].drop(left[i].data); }
    free(left);
    pthread_mutex_lock(&lock);
    release(of);
    pthread_mutex_unlock(&lock);
}

int sim_cuda_described(void *launches, struct cudaKernelNodeParams *params, int *cooperative)
{
    struct sim_launches *of = launches;
    struct cudlaSimLaunched told = {0};
    if (of->count != 1 || of->pending[0].tell == NULL) { return 0; }
    of->pending[0].tell(of->pending[0].data, &told);
    if (of->arguments == NULL && told.count > 0) {
        void **room = calloc(told.count, sizeof *room);
        if (room == NULL) { return 0; }
        told.arguments = room;
        told.room = told.count;
        of->pending[0].tell(of->pending[0].data, &told);
        of->arguments = room;
    }
    *params = (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)told.func,
                                            .gridDim = told.grid,
                                            .blockDim = told.block,
                                            .sharedMemBytes = (unsigned int)told.shared,
                                            .kernelParams = of->arguments};
    *cooperative = told.cooperative;
    return 1;
}

/* --- the stream's thread ---------------------------------------------------------------------- */

void sim_cuda_repeat(void *launches)
{
    struct sim_launches *of = launches;
    struct sim_launches *outer = running;
    running = of;
    for (size_t i = 0; i < of->count && of->status == 0; i++) { of->pending[i].run(of->pending[i].data); }
    running = outer;
}

static int64_t now_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

/* Until there is work, or none, as wanted; or it is closed. A short wait: a program that launches in a loop, or
 * waits for each launch, is faster than a new item, or a thread that sleeps. */
static void linger(struct sim_launches *of, int work)
{
    int64_t end = now_ns() + LINGER_NS;
    do {
        for (int i = 0; i < PAUSES; i++) {
            if (has_work(of) == work || __atomic_load_n(&of->closed, __ATOMIC_ACQUIRE)) { return; }
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        sched_yield();
    } while (now_ns() < end);
}

void sim_cuda_run(void *launches)
{
    struct sim_launches *of = launches;
    struct sim_launches *outer = running;
    struct launch *mine = NULL;
    size_t room = 0;
    running = of;
    for (;;) {
        linger(of, 1);
        pthread_mutex_lock(&lock);
        size_t count = of->count;
        if (count == 0) {
            close_it(of);
            pthread_mutex_unlock(&lock);
            break;
        }
        struct launch *other = of->pending;
        size_t other_room = of->room;
        of->pending = mine, of->room = room;
        of->busy = 1;
        of->count = 0;
        mine = other, room = other_room;
        pthread_cond_broadcast(&taken);
        pthread_mutex_unlock(&lock);
        for (size_t i = 0; i < count; i++) {
            if (of->status == 0) { mine[i].run(mine[i].data); }
            mine[i].drop(mine[i].data);
        }
        pthread_mutex_lock(&lock);
        of->busy = 0;
        pthread_cond_broadcast(&taken);
        pthread_mutex_unlock(&lock);
    }
    free(mine);
    running = outer;
}

/* --- who waits -------------------------------------------------------------------------------- */

/* Waits for the open item without closing it, so that the next launch joins it. 0 where that is not all that has to
 * be waited for, and where there is an error to tell: Python does. */
static int met(uintptr_t stream, int whole)
{
    if (in_kernels > 0) { return 1; } /* its own launch is among what would be waited for */
    if (running != NULL || __atomic_load_n(&current, __ATOMIC_ACQUIRE) == NULL) { return 0; }
    pthread_mutex_lock(&lock);
    struct sim_launches *of = current;
    if (of == NULL || of->closed || !(whole ? of->alone : takes(of, stream))) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    of->references++;
    pthread_mutex_unlock(&lock);
    linger(of, 0);
    pthread_mutex_lock(&lock);
    while (!of->closed && has_work(of)) { pthread_cond_wait(&taken, &lock); }
    int ended = !of->closed && of->status == 0;
    release(of);
    pthread_mutex_unlock(&lock);
    return ended;
}

#define OR_PYTHON(call)                                                               \
    if (sim_enter() != 0) { return sim_ended() ? cudaSuccess : cudaErrorUnknown; }    \
    return call

SIM_EXPORT cudaError_t sim__cudaDeviceSynchronize(void)
{
    if (met(0, 1)) { return cudaSuccess; }
    OR_PYTHON(impl_cudaDeviceSynchronize());
}

SIM_EXPORT cudaError_t sim__cudaThreadSynchronize(void)
{
    if (met(0, 1)) { return cudaSuccess; }
    OR_PYTHON(impl_cudaThreadSynchronize());
}

SIM_EXPORT cudaError_t sim__cudaStreamSynchronize(cudaStream_t stream)
{
    if (met(stream == cudaStreamLegacy ? 0 : (uintptr_t)stream, 0)) { return cudaSuccess; }
    OR_PYTHON(impl_cudaStreamSynchronize(stream));
}
