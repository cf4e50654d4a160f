/*
 * Order of what tasklets do: vector clocks, which synchronisation merges (race.c), and the accesses that
 * a program compiled for it tells one by one (race_watch.c, which only such a program links).
 */
#ifndef DPU_RUN_RACE_H
#define DPU_RUN_RACE_H

#include "rt.h"

struct clocks {
    uint32_t of[MAX_TASKLETS];
};

/* Which access of two came second, and what both were: `code` of the event. */
enum race_code { RACE_SAMPLED = 0, RACE_WRITES = 1, RACE_READ_LATER = 2, RACE_WRITTEN_LATER = 3 };

static inline void clocks_merge(struct clocks *into, const struct clocks *from)
{
    for (uint32_t i = 0; i < MAX_TASKLETS; i++)
        if (into->of[i] < from->of[i])
            into->of[i] = from->of[i];
}

static inline bool race_user_data(uintptr_t address)
{
    extern char __rt_wram_runtime_start[], __rt_wram_runtime_end[];
    return address - WRAM_BASE - 16 < WRAM_SIZE - 16
        && (address < (uintptr_t)__rt_wram_runtime_start
            || address >= (uintptr_t)__rt_wram_runtime_end);
}

/* race_watch.c, from the first function on that tells its accesses; NULL before. */
struct watcher {
    void (*release)(uint32_t object);
    void (*acquire)(uint32_t object);
    bool (*wrote)(uint32_t offset); /* by an access that is not volatile */
    void (*deadlock)(void);
    void (*watch)(uintptr_t address, uint32_t size, bool write, uint64_t pc);
};
extern const struct watcher *rt_watcher;
extern bool rt_race_wanted; /* the check is on */

/* What the runtime itself reads or writes for the program. */
static inline void race_watch(const volatile void *address, uint32_t size, bool write, uint64_t pc)
{
    if (rt_watcher)
        rt_watcher->watch((uintptr_t)address, size, write, pc);
}

#endif
