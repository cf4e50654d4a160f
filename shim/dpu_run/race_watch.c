/*
 * Races between any two accesses of WRAM, one of them a write, in programs that tell each access: clang's
 * instrumentation for threads calls the functions at the end before it (toolchain/steps.py).
 *
 * Each byte knows its last write and, since then, the last read of each tasklet; an access that is not
 * ordered behind these by the vector clocks is a race, whatever the values, in whatever order the
 * tasklets happen to run. A volatile variable is taken for a flag: what was done before writing it comes
 * before what is done after reading it, and it is no race itself. But a deadlock may follow from
 * two such accesses, so the last pair without order is kept for its text.
 * The method is FastTrack's (Flanagan, Freund, PLDI 2009), with all reads kept.
 */
#include "order.h"
#include "race.h"
#include "written.h"

#define OBJECTS 1024u
#define HOOK __attribute__((visibility("default"), used))

struct place {
    uint32_t at, pc;
};

static struct shadow {
    struct place reads[WRAM_SIZE][MAX_TASKLETS];
    struct place write[WRAM_SIZE];
    uint32_t readers[WRAM_SIZE]; /* a bit for each tasklet that read since the write */
    uint8_t writer[WRAM_SIZE];   /* tasklet + 1 */
    bool plain[WRAM_SIZE];       /* written by an access that is not volatile */
} *shadow;

static struct clocks now[MAX_TASKLETS];
static struct {
    uint32_t object, launch;
    struct clocks clocks;
} objects[OBJECTS];
static uint32_t launch;
static bool given_up;
static struct dpu_event volatile_race;

/*
 * Tasklets that waited when the search began, or had done so much that they were about to, in hardware
 * time: they did it in the way without a search, in which nobody tells that they go on.
 */
static uint32_t late; /* a bit each */
static uint32_t late_for[MAX_TASKLETS][2];

static void find_late(void)
{
    late = 0;
    for (uint32_t i = 0; i < MAX_TASKLETS && rt_timed; i++) {
        bool waits = rt_wait[i].kind != WAIT_NONE && rt_wait[i].kind != WAIT_ENDED;
        if (i == __rt_me || !(waits || rt_order.tasklets[i].act))
            continue;
        late |= 1u << i;
        late_for[i][0] = rt_wait[i].object;
        late_for[i][1] = rt_order.tasklets[i].act ? rt_order.tasklets[i].object : rt_wait[i].object;
    }
}

static void begin(void)
{
    if (!shadow)
        shadow = (struct shadow *)(uintptr_t)rt_syscall(9 /* mmap */, 0, sizeof(*shadow), 3,
            0x4062 /* PRIVATE | ANONYMOUS | 32BIT | NORESERVE */, (uint64_t)-1, 0);
    for (uint32_t i = 0; i < WRAM_SIZE; i++) {
        shadow->readers[i] = 0;
        shadow->writer[i] = 0;
        shadow->plain[i] = false;
    }
    for (uint32_t i = 0; i < MAX_TASKLETS; i++) {
        now[i] = (struct clocks){{0}};
        now[i].of[i] = 1;
    }
    launch++;
    given_up = false;
    find_late();
    volatile_race.kind = FAULT_NONE;
}

static bool wrote(uint32_t offset)
{
    return shadow->plain[offset];
}

static struct clocks *clocks_of(uint32_t object)
{
    uint32_t at = object * 2654435761u >> 22;
    for (uint32_t i = 0; i < OBJECTS; i++, at = (at + 1) % OBJECTS) {
        if (objects[at].launch != launch) {
            objects[at].launch = launch;
            objects[at].object = object;
            objects[at].clocks = (struct clocks){{0}};
            return &objects[at].clocks;
        }
        if (objects[at].object == object)
            return &objects[at].clocks;
    }
    given_up = true; /* more objects than room: no statement is better than a wrong one */
    return &objects[0].clocks;
}

static void acquire(uint32_t object)
{
    clocks_merge(&now[__rt_me], clocks_of(object));
}

static void catch_up(void)
{
    uint32_t me = __rt_me;
    if (!(late & 1u << me))
        return;
    late &= ~(1u << me);
    acquire(late_for[me][0]);
    acquire(late_for[me][1]);
}

static void release(uint32_t object)
{
    catch_up();
    clocks_merge(clocks_of(object), &now[__rt_me]);
    now[__rt_me].of[__rt_me]++;
}

static void found(uintptr_t address, uint32_t code, uint32_t other, uint32_t other_pc, uint64_t pc,
    bool is_volatile)
{
    if (is_volatile) {
        volatile_race = (struct dpu_event){.kind = FAULT_RACE, .code = code, .tasklet = __rt_me,
            .pc = pc, .address = address, .size = 1, .other = other_pc, .other_tasklet = other};
        return;
    }
    rt_side.fault.other = other_pc;
    rt_side.fault.other_tasklet = other;
    if (rt_check(CHECK_RACE) == CHECK_FAULT)
        rt_fault(FAULT_RACE, code, pc, address, 1);
    rt_warn(FAULT_RACE, pc, address, 1, other_pc, other);
    for (uint32_t i = 0; i < rt_side.nr_warnings; i++)
        if (rt_side.warnings[i].kind == FAULT_RACE && rt_side.warnings[i].pc == pc)
            rt_side.warnings[i].code = code;
}

static void access(uintptr_t address, uint32_t size, bool write, uint64_t pc, bool is_volatile)
{
    uint32_t me = __rt_me, mine = now[me].of[me];
    bool told = false;
    for (uintptr_t end = address + size; address < end; address++) {
        if (!race_user_data(address))
            continue;
        uint32_t i = (uint32_t)(address - WRAM_BASE), last = shadow->writer[i];
        if (!told && last && last - 1 != me && shadow->write[i].at > now[me].of[last - 1]) {
            told = true;
            found(address, write ? RACE_WRITES : RACE_READ_LATER, last - 1, shadow->write[i].pc, pc,
                is_volatile);
        }
        if (!write) {
            shadow->readers[i] |= 1u << me;
            shadow->reads[i][me] = (struct place){mine, (uint32_t)pc};
            continue;
        }
        for (uint32_t set = shadow->readers[i] & ~(1u << me); set; set &= set - 1) {
            uint32_t other = (uint32_t)__builtin_ctz(set);
            struct place *read = &shadow->reads[i][other];
            if (!told && read->at > now[me].of[other]) {
                told = true;
                found(address, RACE_WRITTEN_LATER, other, read->pc, pc, is_volatile);
            }
        }
        shadow->readers[i] = 0;
        shadow->writer[i] = (uint8_t)(me + 1);
        shadow->write[i] = (struct place){mine, (uint32_t)pc};
        shadow->plain[i] |= !is_volatile;
    }
}

static void watch(uintptr_t address, uint32_t size, bool write, uint64_t pc)
{
    catch_up();
    if (!given_up)
        access(address, size, write, pc, false);
}

/* A race of volatile variables is told when all tasklets wait in the end. */
static void deadlock(void)
{
    if (given_up)
        return;
    rt_side.fault.code = 1;
    bool known = false;
    for (uint32_t i = 0; i < rt_side.nr_warnings; i++)
        known = known || rt_side.warnings[i].kind == FAULT_RACE;
    if (known || volatile_race.kind == FAULT_NONE || rt_side.nr_warnings == MAX_WARNINGS)
        return;
    rt_side.warnings[rt_side.nr_warnings++] = volatile_race;
}

static const struct watcher self = {release, acquire, wrote, deadlock, watch};

/* The first function of a launch that tells something begins it: before, nothing was accessed. */
static bool watching(void)
{
    if (!rt_watcher && rt_race_wanted) {
        begin();
        rt_watcher = &self;
        rt_race_on = true;
    }
    catch_up();
    return rt_watcher && !given_up;
}

/* In hardware time the access happens at its cycle, as if tasklets changed at each of them. */
static void told(uintptr_t address, uint32_t size, bool write, uint64_t pc)
{
    rt_unwritten_access(address, size, write, pc);
    if (!race_user_data(address))
        return;
    if (rt_timed)
        rt_time_settle();
    if (watching())
        access(address, size, write, pc, false);
}

static void told_volatile(uintptr_t address, uint32_t size, bool write, uint64_t pc)
{
    rt_unwritten_access(address, size, write, pc);
    if (!race_user_data(address))
        return;
    if (rt_timed)
        rt_time_settle();
    if (!watching())
        return;
    access(address, size, write, pc, true);
    if (write)
        release((uint32_t)address);
    else
        acquire((uint32_t)address);
}

/* ---- what the compiler calls ---- */

#define ACCESSES(n) \
    HOOK void __tsan_read##n(uintptr_t a) { told(a, n, false, CALLER); } \
    HOOK void __tsan_write##n(uintptr_t a) { told(a, n, true, CALLER); } \
    HOOK void __tsan_unaligned_read##n(uintptr_t a) { told(a, n, false, CALLER); } \
    HOOK void __tsan_unaligned_write##n(uintptr_t a) { told(a, n, true, CALLER); } \
    HOOK void __tsan_volatile_read##n(uintptr_t a) { told_volatile(a, n, false, CALLER); } \
    HOOK void __tsan_volatile_write##n(uintptr_t a) { told_volatile(a, n, true, CALLER); } \
    HOOK void __tsan_unaligned_volatile_read##n(uintptr_t a) { told_volatile(a, n, false, CALLER); } \
    HOOK void __tsan_unaligned_volatile_write##n(uintptr_t a) { told_volatile(a, n, true, CALLER); }

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

HOOK void __tsan_init(void)
{
}

HOOK void __tsan_func_entry(void *caller)
{
    (void)caller;
    rt_unwritten_function();
    watching();
}

HOOK void __tsan_func_exit(void)
{
}
