/* Writes random words over what it shares with the host, also after it has returned. */
#include <cupva_device.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char *rt_control; /* the runtime's */

VMEM(A, int32_t, seed);
VMEM(A, int32_t, amount);
VMEM(A, int32_t, first);
VMEM(A, int32_t, span);
VMEM(A, int32_t, stays);
VMEM(A, int32_t, tile, 1024);

static void scribble(unsigned *state, int count, int at, int size)
{
    static const uint64_t odd[] = {0, 1, 2, 7, 255, 4096, 1u << 31, ~0u, 1ull << 40, 1ull << 63, ~0ull};
    for (int i = 0; i < count; i++) {
        uint64_t value = rand_r(state) & 1 ? odd[rand_r(state) % 11] : (uint64_t)rand_r(state) * 2654435761u;
        int bytes = 1 << rand_r(state) % 4;
        int place = at + rand_r(state) % size;
        if (rand_r(state) & 1)
            place &= ~7;
        memcpy(rt_control + place, &value, (size_t)bytes);
    }
}

static void *forever(void *given)
{
    unsigned state = (unsigned)(uintptr_t)given;
    int at = first, size = span;
    for (;;)
        scribble(&state, 1, at, size);
    return 0;
}

CUPVA_VPU_MAIN()
{
    unsigned state = (unsigned)seed;
    pthread_t thread;
    if (stays && pthread_create(&thread, 0, forever, (void *)(uintptr_t)seed) == 0)
        pthread_detach(thread);
    scribble(&state, amount, first, span);
    return 5;
}
