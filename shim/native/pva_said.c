/*
 * Whether a submission says what an earlier one said. Objects of Python for its commands and fences cost
 * more than a small kernel; what the program has in its memory is compared with a few loads instead.
 */
#include "native.h"

#include "cupva_host_types.h"

#include <string.h>

#define MARKED 0xffffffff00000000ull

enum { COMMAND_WORDS = sizeof(cupvaCmd_t) / 8, FENCE_WORDS = sizeof(cupvaFence_t) / 8, MOST = 64 };

uint32_t sim_pva_said(const void *commands, uint32_t count, uint64_t mark, uint64_t *said, uint32_t room)
{
    const uint64_t *const *at = commands;
    uint32_t words = 0;
    if (!sim_accessible((uintptr_t)at, 8 * (uint64_t)count, 0))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *command = at[i];
        if (command == 0 || words + COMMAND_WORDS > room)
            return 0;
        for (int k = 0; k < COMMAND_WORDS; k++)
            said[words++] = command[k];
        if ((command[0] & MARKED) != mark)
            continue;
        const uint64_t *fences = (const void *)(uintptr_t)command[1];
        uint32_t nr_fences = command[0] & 0xff;
        if (nr_fences == 0)
            continue;
        if (words + nr_fences > room || !sim_accessible(command[1], sizeof(cupvaFence_t) * nr_fences, 0))
            return 0;
        for (uint32_t k = 0; k < nr_fences; k++)
            said[words++] = fences[k * FENCE_WORDS];
    }
    return words;
}

int sim_pva_same(const void *commands, uint32_t count, uint64_t mark, const uint64_t *said, uint32_t words)
{
    uint64_t now[MOST];
    return words <= MOST && sim_pva_said(commands, count, mark, now, MOST) == words &&
           memcmp(now, said, 8 * (size_t)words) == 0;
}
