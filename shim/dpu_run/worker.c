/*
 * Main loop of a worker: one process runs one DPU after the other by mapping that DPU's memory where
 * the program was linked (slots.c). The host sends the number of a frame, the worker takes slots of it
 * until none is left and sends the number back. A closed socket means that the host has gone.
 */
#include "times.h"
#include "written.h"

extern char rt_arguments[];
extern char NR_TASKLETS[] __attribute__((visibility("default")));

static int host_socket = -1;

static uint32_t own_number;
static struct frame *frames;

NORETURN void rt_main(void);

/* Arguments: "<machine fd> <control fd> <socket fd> <stride> <worker number>" in decimal. */
static uint64_t next_argument(const char **text)
{
    uint64_t value = 0;
    while (**text == ' ')
        ++*text;
    for (; **text >= '0' && **text <= '9'; ++*text)
        value = value * 10 + (uint64_t)(**text - '0');
    return value;
}

/* Without faults and warnings only the head says something. */
static void publish(const struct dpu_side *side)
{
    uint64_t size = side->state == STATE_DONE ? offsetof(struct dpu_side, fault) : sizeof(*side);
    if (rt_timed)
        size = sizeof(*side);
    rt_slot_write(SLOT_SIDE, side, (uint32_t)size);
}

static uint8_t run_slot(uint32_t slot, bool sampled, bool timed)
{
    rt_slot_map(slot);
    struct dpu_side *side = &rt_side;
    side->version = PROTOCOL_VERSION;
    side->nr_warnings = 0;
    side->nr_tasklets = (uint32_t)(uintptr_t)NR_TASKLETS;
    side->fault.kind = FAULT_NONE;
    side->fault.other = 0;
    side->fault.code = 0;
    rt_log_total = 0;
    rt_log_capacity = 0;
    rt_sync_begin();
    rt_pages_begin();
    rt_written_begin();
    rt_race_begin(rt_check(CHECK_RACE) != CHECK_OFF, sampled);
    rt_set_tick(TICK_US);
    rt_perf_begin();
    rt_time_begin(timed);
    rt_profile_begin();
    side->state = STATE_RUNNING;
    rt_run_tasklets();
    rt_race_on = false;
    rt_written_end();
    rt_time_end();
    rt_profile_end();
    side->cycles = rt_timed ? rt_time_now() : rt_cycles();
    side->instructions = rt_timed ? rt_time_instructions() : rt_instructions(side->cycles);
    side->log_total = rt_log_total;
    side->log_wrapped = rt_log_total > rt_log_capacity;
    side->log_bytes = side->log_wrapped ? rt_log_capacity : (uint32_t)rt_log_total;
    for (uint32_t i = 0; i < MAX_TASKLETS && (side->state == STATE_FAULT || side->nr_warnings); i++)
        side->waits[i] = rt_wait[i];
    rt_traps_end();
    if (side->state != STATE_FAULT)
        side->state = side->nr_warnings ? STATE_WARNED : STATE_DONE;
    publish(side);
    return (uint8_t)side->state;
}

/* Runs slots that nobody has taken: those that are known here, or all that are left. */
static void take(struct frame *frame, bool known)
{
    if (known && !rt_slots_known())
        return;
    for (uint32_t i = 0; i < frame->nr_slots; i++) {
        uint32_t slot = frame->slots[i];
        uint8_t state = STATE_PENDING;
        if (__atomic_load_n(&frame->status[i], __ATOMIC_RELAXED) != STATE_PENDING
            || (known && !rt_slot_known(slot)))
            continue;
        if (__atomic_load_n(&frame->cancel, __ATOMIC_RELAXED))
            return;
        if (!__atomic_compare_exchange_n(&frame->status[i], &state, STATE_RUNNING, false,
                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        frame->owner[i] = (uint16_t)own_number;
        state = run_slot(slot, i == 0 || slot % 64 == 0, frame->timed != 0);
        __atomic_store_n(&frame->status[i], state, __ATOMIC_SEQ_CST);
    }
}

static void run_frame(struct frame *frame)
{
    static bool guarded;
    rt_checks = frame->checks;
    bool guard = rt_check(CHECK_STACK_OVERFLOW) != CHECK_OFF;
    if (guard != guarded)
        rt_stacks_protect(guard);
    guarded = guard;
    take(frame, true);
    take(frame, false);
    rt_set_tick(0);
}

void rt_main(void)
{
    const char *text = rt_arguments;
    int machine_file = (int)next_argument(&text);
    int control_file = (int)next_argument(&text);
    host_socket = (int)next_argument(&text);
    uint64_t stride = next_argument(&text);
    own_number = (uint32_t)next_argument(&text);
    if (stride == 0) {
        static const char how[] = "this is a DPU program: it runs by dpu_load and dpu_launch\n";
        rt_syscall(1 /* write */, 2, (uintptr_t)how, sizeof(how) - 1, 0, 0, 0);
        rt_exit(126);
    }
    rt_slots_begin(machine_file, stride);
    frames = (struct frame *)(uintptr_t)rt_syscall(9 /* mmap */, 0, MAX_FRAMES * FRAME_STRIDE, 3,
        0x41 /* SHARED | 32BIT */, (uint64_t)control_file, 0);
    rt_syscall(9, STACKS_BASE, STACKS_END - STACKS_BASE, 0,
        0x4032 /* FIXED | PRIVATE | ANONYMOUS | NORESERVE */, (uint64_t)-1, 0);
    rt_stacks_protect(false);
    rt_traps_setup();
    int32_t hello = (int32_t)rt_syscall(39 /* getpid */, 0, 0, 0, 0, 0, 0);
    rt_syscall(1, (uint64_t)host_socket, (uintptr_t)&hello, 4, 0, 0, 0);
    for (;;) {
        uint32_t number = 0;
        int64_t got = rt_syscall(0 /* read */, (uint64_t)host_socket, (uintptr_t)&number, 4, 0, 0, 0);
        if (got == -4 /* EINTR */)
            continue;
        if (got != 4 || number >= MAX_FRAMES)
            rt_exit(0);
        run_frame((struct frame *)((uintptr_t)frames + number * FRAME_STRIDE));
        rt_syscall(1, (uint64_t)host_socket, (uintptr_t)&number, 4, 0, 0, 0);
    }
}
