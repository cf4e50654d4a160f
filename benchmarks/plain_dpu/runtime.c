/*
 * Runs a DPU program as threads: one process a core takes one DPU after the other. Its MRAM is shared
 * memory, mapped where the program expects it; its __host variables are copied in and out.
 * Arguments: the file of the memories, where to read that there is work, where to say that it is done.
 */
#define _GNU_SOURCE
#include <alloc.h>
#include <barrier.h>
#include <handshake.h>
#include <mram.h>
#include <mutex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "slots.h"

#define LOCKS 256

__thread unsigned int plain_me;
extern char __start_wram_host[], __stop_wram_host[];
int kernel_main(void);

static char heap[1 << 20] __attribute__((aligned(8)));
static atomic_uint top;
static pthread_mutex_t locks[LOCKS], all = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool notified[NR_TASKLETS];

void *mem_alloc(size_t size)
{
    return heap + atomic_fetch_add(&top, ((unsigned int)size + 7) & ~7u);
}

void *mem_reset(void)
{
    top = 0;
    return heap;
}

void barrier_wait(barrier_t *barrier)
{
    pthread_mutex_lock(&all);
    uint8_t opened = barrier->wait_queue;
    if (--barrier->count == 0) {
        barrier->count = barrier->initial_count;
        barrier->wait_queue++;
        pthread_cond_broadcast(&changed);
    }
    while (barrier->wait_queue == opened)
        pthread_cond_wait(&changed, &all);
    pthread_mutex_unlock(&all);
}

void mutex_lock(mutex_id_t mutex)
{
    pthread_mutex_lock(&locks[(uintptr_t)mutex % LOCKS]);
}

void mutex_unlock(mutex_id_t mutex)
{
    pthread_mutex_unlock(&locks[(uintptr_t)mutex % LOCKS]);
}

void handshake_notify(void)
{
    pthread_mutex_lock(&all);
    notified[plain_me] = true;
    pthread_cond_broadcast(&changed);
    while (notified[plain_me])
        pthread_cond_wait(&changed, &all);
    pthread_mutex_unlock(&all);
}

int handshake_wait_for(unsigned int tasklet)
{
    pthread_mutex_lock(&all);
    while (!notified[tasklet])
        pthread_cond_wait(&changed, &all);
    notified[tasklet] = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&all);
    return 0;
}

static void *run(void *number)
{
    plain_me = (unsigned int)(uintptr_t)number;
    kernel_main();
    return NULL;
}

static void run_slot(int file, int slot)
{
    size_t host = (size_t)(__stop_wram_host - __start_wram_host);
    off_t place = SLOTS + (off_t)slot * SLOT_STRIDE;
    pthread_t tasklets[NR_TASKLETS];
    mmap(DPU_MRAM_HEAP_POINTER, SLOT_MRAM, 3, MAP_SHARED | MAP_FIXED, file, place);
    char *wram = mmap(NULL, SLOT_WRAM, 3, MAP_SHARED, file, place + SLOT_MRAM);
    memcpy(__start_wram_host, wram, host);
    for (uintptr_t i = 0; i < NR_TASKLETS; i++)
        pthread_create(&tasklets[i], NULL, run, (void *)i);
    for (int i = 0; i < NR_TASKLETS; i++)
        pthread_join(tasklets[i], NULL);
    memcpy(wram, __start_wram_host, host);
    munmap(wram, SLOT_WRAM);
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    int file = atoi(arguments[1]), work = atoi(arguments[2]), done = atoi(arguments[3]), word;
    struct launch *launch = mmap(NULL, SLOTS, 3, MAP_SHARED, file, 0);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    while (read(work, &word, sizeof word) == sizeof word) {
        for (int slot; (slot = atomic_fetch_add(&launch->next, 1)) < launch->slots;)
            run_slot(file, slot);
        if (write(done, &word, sizeof word) != sizeof word)
            return 1;
    }
    return 0;
}
