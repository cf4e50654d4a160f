/*
 * Hardware time: tasklets run in virtual time, as a simulation of discrete events.
 *
 * A tasklet executes natively up to its next event (DMA, lock, barrier, reading the counter, its end)
 * and counts the DPU's instructions on the way; the event happens when the DPU would have executed
 * them. A DPU issues one instruction a cycle, and the same tasklet again after 11 cycles: with R
 * tasklets that execute something, each gets one instruction in max(11, R) cycles. So a common clock
 * of work per tasklet tells who comes first, and R changes only at events.
 *
 * A tasklet that waits for a lock executes a retry each turn; one that waits for DMA, a barrier or a
 * handshake executes nothing. Transfers are served one after the other in the order of issue.
 * Two runs give the same times; a tasklet that spins on a variable lets time pass in __rt_spin.
 *
 * Source of the numbers: facts of DPU timing, sections 2, 5, 6, 7.
 */
#include "hardware.h"
#include "switch.h"
#include "times.h"

#define BOOT_INSTRUCTIONS 4u /* of tasklet 0, and three for each atomic bit in use */
#define BOOT_EACH 3u         /* until a tasklet has booted the next one */
#define SPIN_INSTRUCTIONS 16u

/* Fractions of 1/65536: work in half instructions, time in half cycles. */
#define INSTRUCTION (2ull << 16)
#define CYCLE (2ull << 16)

extern uint64_t __rt_count __attribute__((weak));
extern char NR_TASKLETS[] __attribute__((visibility("default")));
extern char __rt_atomic_start[], __rt_atomic_end[];

enum state { BLOCKED, COMPUTES, TRIES, RETRIES, SLEEPS, ENDED };

bool rt_timed;

static struct {
    enum state state;
    uint64_t until; /* COMPUTES, TRIES: work; SLEEPS: time; RETRIES: the work at which it began */
    uint64_t since; /* time at which it was blocked or sent to sleep */
    uint32_t bit;
} tasklets[MAX_TASKLETS];

bool rt_bits[256]; /* atomic bits: taken */

static uint32_t count, running; /* running: COMPUTES, TRIES and RETRIES */
static uint32_t in_state[ENDED + 1]; /* a bit for each tasklet */

/* Of those that retry, by themselves so that all of them are compared at once: bit + 1, and the place of
 * the retries in the turn. */
static uint32_t retried[MAX_TASKLETS], place[MAX_TASKLETS];
static uint64_t now, work, retired, engine_free;
static uint32_t last_row;

static struct dpu_times *times(void)
{
    return &rt_side.times;
}

uint64_t rt_time_now(void)
{
    return now / CYCLE;
}

uint64_t rt_time_instructions(void)
{
    return retired / INSTRUCTION;
}

static uint64_t turn(void)
{
    return running > ISSUE ? running : ISSUE;
}

static void enter(uint32_t tasklet, enum state state)
{
    in_state[tasklets[tasklet].state] &= ~(1u << tasklet);
    in_state[state] |= 1u << tasklet;
    tasklets[tasklet].state = state;
}

/* The tasklet of a set that goes on first, of equals the first one by round robin. */
static uint32_t earliest(uint32_t set)
{
    if ((set & (set - 1)) == 0)
        return set ? (uint32_t)__builtin_ctz(set) : MAX_TASKLETS;
    uint32_t begin = __rt_me + 1, found = MAX_TASKLETS;
    uint64_t least = ~0ull;
    for (set = set >> begin | set << (32 - begin); set; set &= set - 1) {
        uint32_t i = ((uint32_t)__builtin_ctz(set) + begin) & 31;
        found = tasklets[i].until < least ? i : found;
        least = tasklets[i].until < least ? tasklets[i].until : least;
    }
    return found;
}

static void pass_work(uint64_t done)
{
    now += done * turn();
    work += done;
    retired += done * running;
}

static void sleep_until(uint32_t tasklet, uint64_t time)
{
    enter(tasklet, SLEEPS);
    tasklets[tasklet].until = time;
    tasklets[tasklet].since = now;
}

/* It tries its bit, at its time: nothing of the program runs for a try that fails. */
static bool takes_bit(uint32_t tasklet)
{
    if (rt_bits[tasklets[tasklet].bit]) {
        enter(tasklet, RETRIES);
        retried[tasklet] = tasklets[tasklet].bit + 1;
        place[tasklet] = (uint32_t)tasklets[tasklet].until;
        return false;
    }
    rt_bits[tasklets[tasklet].bit] = true;
    rt_wait[tasklet].kind = WAIT_NONE;
    enter(tasklet, COMPUTES);
    return true;
}

/* Lets time pass to the next tasklet that goes on; MAX_TASKLETS when none ever will. */
static uint32_t next(void)
{
    for (;;) {
        uint32_t first = earliest(in_state[COMPUTES] | in_state[TRIES]);
        uint32_t awake = in_state[SLEEPS] ? earliest(in_state[SLEEPS]) : MAX_TASKLETS;
        if (awake != MAX_TASKLETS) {
            uint64_t passes = tasklets[awake].until - now;
            if (first == MAX_TASKLETS || passes < (tasklets[first].until - work) * turn()) {
                uint64_t done = running ? passes / turn() : 0;
                work += done;
                retired += done * running;
                now = tasklets[awake].until;
                times()->tasklets[awake].dma_cycles += (now - tasklets[awake].since) / CYCLE;
                enter(awake, COMPUTES);
                tasklets[awake].until = work;
                running++;
                continue;
            }
        }
        if (first == MAX_TASKLETS)
            return first;
        pass_work(tasklets[first].until - work);
        if (tasklets[first].state == COMPUTES || takes_bit(first))
            return first;
    }
}

static void go_on(uint64_t pc, uint64_t object)
{
    uint32_t to = next();
    if (to == MAX_TASKLETS)
        rt_nobody_runs(pc, object);
    if (to != __rt_me)
        rt_switch_to(to);
}

void rt_time_add(uint32_t instructions)
{
    if (rt_timed)
        __rt_count += 2ull * instructions;
}

/* The counted instructions of the tasklet as work that it has to do. */
static void take_count(void)
{
    uint64_t halves = __rt_count;
    __rt_count = 0;
    times()->tasklets[__rt_me].half_instructions += halves;
    tasklets[__rt_me].until = work + (halves << 16);
}

void rt_time_settle(void)
{
    if (__rt_count == 0)
        return; /* nobody else has come to an earlier time */
    take_count();
    go_on(0, 0);
}

/* rt_wait says for what. */
void rt_time_block(void)
{
    rt_time_settle();
    enter(__rt_me, BLOCKED);
    tasklets[__rt_me].since = now;
    running--;
    go_on(rt_wait[__rt_me].pc, rt_wait[__rt_me].object);
}

/* It is resumed, and issues again after one turn. */
void rt_time_ready(uint32_t tasklet)
{
    times()->tasklets[tasklet].wait_cycles += (now - tasklets[tasklet].since) / CYCLE;
    enter(tasklet, COMPUTES);
    tasklets[tasklet].until = work + INSTRUCTION;
    running++;
}

static void end_of(uint32_t tasklet)
{
    enter(tasklet, ENDED);
    times()->tasklets[tasklet].end_cycles = now / CYCLE;
    running--;
}

void rt_time_tasklet_end(void)
{
    rt_time_settle();
    end_of(__rt_me);
    uint32_t to = next();
    if (to == MAX_TASKLETS)
        rt_nobody_runs(0, 0);
    rt_switches++;
    __rt_me = to;
    rt_leave(rt_stack_pointer[to]);
}

uint64_t rt_time_first(void)
{
    __rt_me = next();
    return rt_stack_pointer[__rt_me];
}

void rt_time_dma(uint32_t offset, uint32_t size, bool write)
{
    struct tasklet_times *own = &times()->tasklets[__rt_me];
    uint64_t bytes = BYTES_CYCLES(size) * CYCLE;
    uint64_t extra = dma_row_cycles(&last_row, offset, size, write);
    uint64_t issued = now - turn() * CYCLE; /* the transfer is the last instruction that was counted */
    uint64_t start = issued > engine_free ? issued : engine_free;
    engine_free = start + bytes + extra * CYCLE;
    times()->engine_cycles += (engine_free - start) / CYCLE;
    *(write ? &own->dma_written : &own->dma_read) += size;
    own->dma_transfers++;
    uint64_t back = start + bytes + (write ? WRITE_LATENCY : READ_LATENCY) * CYCLE;
    back = back > engine_free ? back : engine_free;
    sleep_until(__rt_me, back > now ? back : now);
    running--;
    go_on(0, 0);
}

/* Takes a bit: tries it now, then with one instruction each turn. */
void rt_time_take(uint32_t bit, uint64_t pc)
{
    take_count();
    if (in_state[COMPUTES] == 1u << __rt_me && !(in_state[TRIES] | in_state[SLEEPS])) {
        pass_work(tasklets[__rt_me].until - work); /* nobody else acts before */
        if (!rt_bits[bit]) {
            rt_bits[bit] = true;
            return;
        }
    }
    rt_wait[__rt_me] = (struct dpu_wait){WAIT_MUTEX, bit, pc};
    enter(__rt_me, TRIES);
    tasklets[__rt_me].bit = bit;
    go_on(pc, bit);
}

/* Of those that retry `bit` the one whose next retry comes first, below how long until then. */
static uint32_t next_retry(uint32_t bit)
{
    uint32_t first = ~0u;
    for (uint32_t i = 0; i < MAX_TASKLETS; i++) {
        uint32_t passes = (place[i] - (uint32_t)work) & (INSTRUCTION - 1);
        uint32_t found = retried[i] == bit + 1 ? passes << 5 | i : ~0u;
        first = found < first ? found : first;
    }
    return first;
}

/*
 * Those that wait for it meet it at their next retry, which they made each turn since the first one.
 * The first one takes it, so only that one tries: the others fail then, unless somebody else was
 * faster, which the first one finds out. Retries that fall together with the release are in
 * neighbouring cycles of one turn on a DPU: each has its own place from now on.
 */
static void released(uint32_t bit)
{
    rt_bits[bit] = false;
    if (in_state[RETRIES] == 0)
        return;
    uint32_t found = next_retry(bit);
    while (found >> 5 == 0) {
        uint32_t i = found & 31, behind = i > __rt_me ? i - __rt_me : i + count - __rt_me;
        uint32_t passes = behind * (uint32_t)INSTRUCTION / (count > ISSUE ? count : ISSUE);
        place[i] += passes;
        tasklets[i].until += passes;
        found = next_retry(bit);
    }
    if (found == ~0u)
        return;
    uint32_t first = found & 31;
    uint64_t at = work + (found >> 5), tries = (at - tasklets[first].until) / INSTRUCTION;
    times()->tasklets[first].retries += tries;
    times()->tasklets[first].half_instructions += 2 * tries;
    tasklets[first].until = at;
    retried[first] = 0;
    enter(first, TRIES);
}

void rt_time_free(uint32_t bit)
{
    rt_time_settle();
    released(bit);
}

/* In each round of a loop that may wait for another tasklet. */
void __rt_spin(void)
{
    if (rt_timed && __rt_count >= 2 * SPIN_INSTRUCTIONS)
        rt_time_settle();
}

void rt_time_begin(bool wanted)
{
    rt_timed = wanted && &__rt_count != 0;
    if (!rt_timed)
        return;
    rt_side.times = (struct dpu_times){0};
    __rt_count = 0;
    count = (uint32_t)(uintptr_t)NR_TASKLETS;
    running = 0;
    work = engine_free = now = 0;
    last_row = ~0u;
    for (uint32_t i = 0; i <= ENDED; i++)
        in_state[i] = 0;
    for (uint32_t i = 0; i < MAX_TASKLETS; i++)
        retried[i] = 0;
    uint32_t bits = (uint32_t)(__rt_atomic_end - __rt_atomic_start);
    uint32_t boot = BOOT_INSTRUCTIONS + 3 * bits;
    retired = (boot + (uint64_t)BOOT_EACH * count) * INSTRUCTION;
    for (uint32_t i = 0; i < count; i++) {
        sleep_until(i, (boot + BOOT_EACH * (uint64_t)(i + 1)) * ISSUE * CYCLE);
        tasklets[i].since = tasklets[i].until; /* a boot is no DMA */
    }
}

void rt_time_end(void)
{
    if (rt_timed)
        times()->counted = 1;
}
