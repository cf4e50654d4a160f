/*
 * Main loop of a worker that executes the vendor's instructions. It speaks what a DPU program of our
 * compiler speaks (dpu_run/worker.c): the host sends the number of a frame, the worker takes slots of it
 * until none is left and sends the number back. A closed socket means that the host has gone.
 */
#include "isa.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct dpu dpu;
static uint8_t *machine; /* the memories of all DPUs */
static uint64_t stride, machine_bytes;
static uint32_t own_number;

/* The host has sent a signal to stop one DPU, which may not be the one that runs. */
static void on_stop(int number)
{
    (void)number;
    if (dpu.core != NULL && dpu.core->stop)
        isa_break(&dpu);
}

static void start(const struct frame *frame, uint8_t *slot, bool timed)
{
    if (frame->start == START_BOOT)
        isa_begin(&dpu, slot, timed);
    else
        isa_resume(&dpu, slot, timed, frame->start == START_STEP ? frame->tasklet : MAX_TASKLETS);
    isa_watch(&dpu, frame, slot);
}

static uint8_t run_slot(uint32_t number, const struct frame *frame)
{
    if ((number + 1ull) * stride > machine_bytes)
        exit(121);
    const struct dpu_core *core = (const void *)(machine + number * stride + SLOT_CORE);
    bool watched = frame->start == START_STEP || frame->trace_limit != 0;
    for (uint32_t n = 0; n < WATCHES; n++)
        watched = watched || core->watched_bytes[n] != 0;
    const bool timed = frame->timed != 0;
    /* What goes on does so by turns, or a tasklet that stops at each breakpoint would keep the others out. */
    bool pipeline = timed || watched || frame->start != START_BOOT;
    start(frame, machine + number * stride, pipeline);
    /* One that has not stopped yet does not hear it; the chip's turns see to it that it has. */
    if (!pipeline && dpu.counts_on_turns) {
        pipeline = true;
        start(frame, machine + number * stride, pipeline);
    }
    struct dpu_side *side = dpu.side;
    side->version = PROTOCOL_VERSION;
    side->nr_warnings = 0;
    side->fault.kind = FAULT_NONE;
    side->log_total = side->log_bytes = side->log_wrapped = 0;
    side->state = STATE_RUNNING;
    dpu.deadlock = frame->checks >> (2 * CHECK_DEADLOCK) & 3u;
    if (watched)
        isa_execute_watched(&dpu);
    else if (pipeline)
        isa_execute_timed(&dpu);
    else
        isa_execute_fast(&dpu);
    isa_finish(&dpu);
    side->times.counted = timed;
    dpu.core->traced = dpu.watch.count;
    if (side->state != STATE_FAULT)
        side->state = side->nr_warnings ? STATE_WARNED : STATE_DONE;
    return (uint8_t)side->state;
}

static void run_frame(struct frame *frame)
{
    for (uint32_t i = 0; i < frame->nr_slots && i < FRAME_SLOTS; i++) {
        uint8_t state = STATE_PENDING;
        if (__atomic_load_n(&frame->cancel, __ATOMIC_RELAXED))
            return;
        if (!__atomic_compare_exchange_n(&frame->status[i], &state, STATE_RUNNING, false,
                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        frame->owner[i] = (uint16_t)own_number;
        state = run_slot(frame->slots[i], frame);
        __atomic_store_n(&frame->status[i], state, __ATOMIC_SEQ_CST);
    }
}

static void *map(int file, uint64_t size)
{
    void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (found == MAP_FAILED)
        exit(120);
    return found;
}

/* Arguments: "<machine fd> <control fd> <socket fd> <stride> <worker number>" in decimal. */
int main(int count, char **arguments)
{
    int machine_file, control_file, host;
    unsigned long long bytes = 0;
    if (count < 2
        || sscanf(arguments[1], "%d %d %d %llu %u", &machine_file, &control_file, &host, &bytes,
               &own_number) != 5) {
        fputs("this executes DPU programs: they run by dpu_load and dpu_launch\n", stderr);
        return 126;
    }
    stride = bytes;
    struct stat status;
    if (fstat(machine_file, &status) != 0)
        return 120;
    machine_bytes = (uint64_t)status.st_size;
    machine = map(machine_file, machine_bytes);
    uint8_t *frames = map(control_file, (uint64_t)MAX_FRAMES * FRAME_STRIDE);
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTSTP};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGUSR1, on_stop);
    int32_t hello = (int32_t)getpid();
    if (write(host, &hello, sizeof hello) != sizeof hello)
        return 0;
    for (;;) {
        uint32_t number = 0;
        ssize_t got = read(host, &number, sizeof number);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != sizeof number || number >= MAX_FRAMES)
            return 0;
        run_frame((struct frame *)(void *)(frames + (uint64_t)number * FRAME_STRIDE));
        if (write(host, &number, sizeof number) != sizeof number)
            return 0;
    }
}
