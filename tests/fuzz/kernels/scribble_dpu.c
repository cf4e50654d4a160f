/* Writes random words over the frames that it shares with the host, over what its worker answers,
 * and into the worker's socket; then it returns, or ends the worker in one way or another. */
#include <attributes.h>
#include <stdint.h>
#include <string.h>

int64_t rt_syscall(int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t); /* the runtime's */

enum { RETURNS, KILLS_ITSELF, EXITS, CRASHES };

/* Addresses of the runtime's variables, which are static there; and where this DPU's memory lies. */
__host volatile uint32_t frames_at, socket_at, file_at;
__host volatile uint64_t side_at;
__host volatile uint32_t seed, amount, first, span, answers, ending, frame_state;

static uint32_t next(void)
{
    static uint32_t state;
    if (!state)
        state = seed | 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static uint64_t word(void)
{
    static const uint64_t odd[] = {0, 1, 2, 3, 4, 5, 7, 255, 4096, 1u << 31, ~0u, 1ull << 40, 1ull << 63, ~0ull};
    return next() & 1 ? odd[next() % 14] : next() * 2654435761ull;
}

int main(void)
{
    char *frames = *(char **)(uintptr_t)frames_at;
    uint64_t host = (uint64_t)*(int *)(uintptr_t)socket_at, file = (uint64_t)*(int *)(uintptr_t)file_at;
    for (uint32_t i = 0; i < amount; i++) {
        uint64_t value = word();
        uint32_t size = 1u << next() % 4;
        if (next() % 4)
            memcpy(frames + first + next() % span, &value, size);
        else
            rt_syscall(18 /* pwrite64 */, file, (uintptr_t)&value, size, side_at + next() % 1024, 0, 0);
    }
    if (frame_state != ~0u)
        memset(frames + first, (int)frame_state, span);
    for (uint32_t i = 0; i < answers; i++) {
        uint64_t value = word();
        rt_syscall(1 /* write */, host, (uintptr_t)&value, 1 + next() % 8, 0, 0, 0);
    }
    switch (ending) {
    case KILLS_ITSELF:
        rt_syscall(62 /* kill */, (uint64_t)rt_syscall(39 /* getpid */, 0, 0, 0, 0, 0, 0), 9, 0, 0, 0, 0);
        break;
    case EXITS:
        rt_syscall(231 /* exit_group */, next() % 256, 0, 0, 0, 0, 0);
        break;
    case CRASHES:
        *(volatile uint32_t *)(uintptr_t)word() = 1;
    }
    return 0;
}
