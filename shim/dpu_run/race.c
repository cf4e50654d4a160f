/*
 * A sampled report of races in any program: two tasklets that wrote the same byte of WRAM with no lock,
 * barrier, semaphore or handshake between the two writes. (Programs compiled for it tell reads, too:
 * race_watch.c.)
 *
 * When a tasklet's turn ends, and before it synchronises, WRAM is compared with a copy; what changed
 * was written by that tasklet. Order is known from vector clocks, which synchronisation merges. A
 * write of the value that was already there is not seen. Bytes, not words: a DPU stores single bytes,
 * so neighbours may belong to different tasklets. The work has a budget in each launch and, over all
 * launches of a worker, stays below a twentieth of its time.
 */
#include "race.h"

#define OBJECTS 512u
#define TURNS 4000u

extern char __rt_wram_runtime_start[], __rt_wram_runtime_end[], __rt_stacks_start[];
extern char __sys_heap_pointer_reset[] __attribute__((visibility("default")));
extern volatile uintptr_t __sys_heap_pointer;

static bool sampling; /* writes are found by comparing; off when the budget is spent */

static uint8_t copy[WRAM_SIZE] __attribute__((aligned(16)));
static uint8_t writer[WRAM_SIZE];      /* tasklet + 1 */
static uint32_t written_at[WRAM_SIZE]; /* the writer's clock */
static struct clocks now[MAX_TASKLETS];
static struct {
    uint32_t object, used;
    struct clocks clocks;
} objects[OBJECTS];
static uint32_t turns_left, launch;
static uint64_t spent_ns, first_ns;

static struct clocks *clocks_of(uint32_t object)
{
    uint32_t at = object * 2654435761u >> 23;
    for (uint32_t i = 0; i < OBJECTS; i++, at = (at + 1) % OBJECTS) {
        if (objects[at].used != launch) {
            objects[at].used = launch;
            objects[at].object = object;
            objects[at].clocks = (struct clocks){{0}};
            return &objects[at].clocks;
        }
        if (objects[at].object == object)
            return &objects[at].clocks;
    }
    sampling = false; /* more objects than room: no statement is better than a wrong one */
    return &objects[0].clocks;
}

static void begin_sampling(void)
{
    uint64_t time = rt_cpu_time_ns();
    if (first_ns == 0)
        first_ns = time;
    if (spent_ns > 10000000 + (time - first_ns) / 20)
        return;
    launch++;
    turns_left = TURNS;
    rt_copy(copy, (const void *)(uintptr_t)WRAM_BASE, WRAM_SIZE);
    for (uint32_t i = 0; i < WRAM_SIZE; i += 8)
        *(uint64_t __attribute__((may_alias)) *)&writer[i] = 0;
    for (uint32_t i = 0; i < MAX_TASKLETS; i++) {
        now[i] = (struct clocks){{0}};
        now[i].of[i] = 1;
    }
    sampling = true;
    spent_ns += rt_cpu_time_ns() - time;
}

/* ``sampled``: this DPU is one of those that are compared. Told accesses are watched on all of them. */
void rt_race_begin(bool on, bool sampled)
{
    sampling = false;
    if (on && sampled)
        begin_sampling();
    rt_race_wanted = on;
    rt_race_on = sampling;
    rt_watcher = NULL;
}

static void changed(uint32_t offset, uint32_t tasklet)
{
    uint32_t last = writer[offset];
    if (last && last - 1 != tasklet && written_at[offset] > now[tasklet].of[last - 1]) {
        uint32_t address = WRAM_BASE + offset;
        if (rt_watcher && rt_watcher->wrote(offset)) {
            /* told with both places */
        } else if (rt_check(CHECK_RACE) == CHECK_FAULT) {
            rt_side.fault.other_tasklet = last - 1;
            rt_race_on = false;
            rt_fault(FAULT_RACE, RACE_SAMPLED, address & ~3u, address, 1);
        } else {
            rt_warn(FAULT_RACE, address & ~3u, address, 1, 0, last - 1);
        }
    }
    writer[offset] = (uint8_t)(tasklet + 1);
    written_at[offset] = now[tasklet].of[tasklet];
}

static void compare(uintptr_t start, uintptr_t end, uint32_t tasklet)
{
    typedef uint64_t word __attribute__((may_alias));
    uint32_t from = (uint32_t)(start - WRAM_BASE), to = (uint32_t)(end - WRAM_BASE);
    const uint8_t *wram = (const uint8_t *)(uintptr_t)WRAM_BASE;
    for (uint32_t i = from & ~7u; i < to; i += 8) {
        if (*(const word *)(wram + i) == *(const word *)(copy + i))
            continue;
        for (uint32_t j = i < from ? from : i; j < i + 8 && j < to; j++)
            if (wram[j] != copy[j]) {
                copy[j] = wram[j];
                changed(j, tasklet);
            }
    }
}

void rt_race_slice_end(uint32_t tasklet)
{
    if (!sampling)
        return;
    if (turns_left-- == 0) {
        sampling = false;
        rt_race_on = rt_watcher != NULL;
        return;
    }
    uint64_t time = turns_left % 64 ? 0 : rt_cpu_time_ns(); /* one turn in 64 is timed */
    uint32_t next = __rt_me; /* in hardware time; what is told is of the tasklet whose turn ends */
    __rt_me = tasklet;
    compare(WRAM_BASE + 8, (uintptr_t)__rt_wram_runtime_start, tasklet);
    compare((uintptr_t)__rt_wram_runtime_end, (uintptr_t)__rt_stacks_start, tasklet);
    compare((uintptr_t)__sys_heap_pointer_reset, __sys_heap_pointer, tasklet);
    __rt_me = next;
    if (time)
        spent_ns += 64 * (rt_cpu_time_ns() - time);
}

/* The runtime itself wrote there, for instance the count of a barrier. */
void rt_race_own(const volatile void *address, uint32_t size)
{
    uintptr_t offset = (uintptr_t)address - WRAM_BASE;
    for (uint32_t i = 0; i < size && offset + i < WRAM_SIZE; i++)
        copy[offset + i] = ((const volatile uint8_t *)address)[i];
}

void rt_race_release(uint32_t object)
{
    uint32_t me = __rt_me;
    if (rt_watcher)
        rt_watcher->release(object);
    if (!sampling)
        return;
    rt_race_slice_end(me);
    clocks_merge(clocks_of(object), &now[me]);
    now[me].of[me]++;
}

void rt_race_acquire(uint32_t object)
{
    if (rt_watcher)
        rt_watcher->acquire(object);
    if (!sampling)
        return;
    rt_race_slice_end(__rt_me);
    clocks_merge(&now[__rt_me], clocks_of(object));
}
