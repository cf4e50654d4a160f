/*
 * The performance counter.
 *
 * Cycles are an estimate, not a model of the pipeline: processor time of this worker since the launch
 * began, at 350 MHz (short times by the time stamp counter, because asking the system takes longer
 * than what programs measure), plus for every DMA the published cost of 77 (read) or 61 (write) cycles and half
 * a cycle a byte. Instructions are cycles times min(tasklets, 11) / 11, the throughput of the
 * 11-stage pipeline. The low four bits are 0, as on hardware. Every tasklet sees a counter that never
 * goes back, except by its own reset: a reset by another tasklet counts only for tasklets that have
 * not read the counter yet.
 *
 * In a launch in hardware time (times.c) the counter is the hardware's: one for all tasklets, a reset
 * is one for all, and instructions are those of the whole DPU.
 */
#include "times.h"

#include <perfcounter.h>

extern char NR_TASKLETS[] __attribute__((visibility("default")));

extern char __rt_v1b[]; /* its address: 1 for a v1B program, which counts both at once */

uint64_t rt_dma_cycles;

static uint64_t last_cycles, last_reset;
static uint64_t zero[MAX_TASKLETS];
static uint32_t has_read; /* one bit a tasklet */
static perfcounter_config_t mode;

/* In hardware time: what the counter held when it was last set, and its source then. */
static uint64_t held, held_at;
static uint64_t zero_cycles, zero_instructions;

/* Time stamps a nanosecond, in 1/65536; 0 until it was measured. */
static uint64_t stamps_per_ns;
static uint64_t last_stamp, anchor_ns, passed_ns, passed_since_anchor_ns;

#define SHORT_NS 100000u

/* The least of three: losing the core meanwhile makes it larger. */
static void calibrate(void)
{
    for (int i = 0; i < 3; i++) {
        uint64_t begin_ns = rt_cpu_time_ns(), begin = __builtin_ia32_rdtsc(), now_ns;
        do
            now_ns = rt_cpu_time_ns();
        while (now_ns - begin_ns < SHORT_NS / 2);
        uint64_t found = ((__builtin_ia32_rdtsc() - begin) << 16) / (now_ns - begin_ns);
        if (stamps_per_ns == 0 || found < stamps_per_ns)
            stamps_per_ns = found ? found : 1;
    }
}

/* Processor time since rt_perf_begin. Between two short steps the process hardly lost its core. */
static uint64_t processor_ns(void)
{
    uint64_t stamp = __builtin_ia32_rdtsc();
    uint64_t step = stamp - last_stamp < (1ull << 40) ? ((stamp - last_stamp) << 16) / stamps_per_ns
                                                      : SHORT_NS;
    if (step < SHORT_NS) {
        passed_since_anchor_ns += step;
    } else {
        uint64_t now = rt_cpu_time_ns(), passed = now - anchor_ns;
        step = passed > passed_since_anchor_ns ? passed - passed_since_anchor_ns : 0;
        anchor_ns = now;
        passed_since_anchor_ns = 0;
    }
    last_stamp = stamp;
    passed_ns += step;
    return passed_ns;
}

void rt_perf_begin(void)
{
    if (stamps_per_ns == 0)
        calibrate();
    anchor_ns = rt_cpu_time_ns();
    last_stamp = __builtin_ia32_rdtsc();
    passed_ns = passed_since_anchor_ns = 0;
    rt_dma_cycles = last_cycles = last_reset = 0;
    has_read = 0;
    held = held_at = zero_cycles = zero_instructions = 0;
    mode = COUNT_CYCLES;
}

uint64_t rt_cycles(void)
{
    uint64_t cycles = processor_ns() * 35 / 100 + rt_dma_cycles;
    if (cycles < last_cycles + 16)
        cycles = last_cycles + 16;
    last_cycles = cycles & ~15ull;
    return last_cycles;
}

uint64_t rt_instructions(uint64_t cycles)
{
    uint32_t tasklets = (uint32_t)(uintptr_t)NR_TASKLETS;
    return (cycles * (tasklets < 11 ? tasklets : 11) / 11) & ~15ull;
}

static uint64_t value(uint64_t cycles)
{
    if (mode == COUNT_INSTRUCTIONS)
        return rt_instructions(cycles);
    return mode == COUNT_NOTHING || mode == COUNT_DISABLE_BOTH ? 0 : cycles;
}

static uint64_t source(void)
{
    if (mode == COUNT_INSTRUCTIONS)
        return rt_time_instructions();
    return mode == COUNT_NOTHING || mode == COUNT_DISABLE_BOTH ? 0 : rt_time_now();
}

static uint64_t timed_value(void)
{
    return (held + source() - held_at) & 0xffffffff0ull;
}

static perfcounter_t timed_config(perfcounter_config_t config, bool reset_value)
{
    rt_time_event(2);
    uint64_t before = timed_value();
    if (config != COUNT_SAME)
        mode = config;
    held = reset_value ? 0 : before;
    held_at = source();
    if (reset_value) {
        zero_cycles = rt_time_now();
        zero_instructions = rt_time_instructions();
    }
    return before;
}

static perfcounter_t counter(void)
{
    if (rt_timed) {
        rt_time_event(2);
        return timed_value();
    }
    uint64_t cycles = rt_cycles();
    uint32_t bit = 1u << __rt_me;
    if (!(has_read & bit)) {
        has_read |= bit;
        zero[__rt_me] = last_reset;
    }
    return value(cycles - zero[__rt_me]) & 0xfffffffffull;
}

static perfcounter_t configure(perfcounter_config_t config, bool reset_value)
{
    bool both = config == COUNT_ENABLE_BOTH || config == COUNT_DISABLE_BOTH;
    uintptr_t v1b = (uintptr_t)__rt_v1b;
    __asm__("" : "+r"(v1b)); /* compilers know that no address is 0 */
    if (both && v1b == 0)
        rt_fault(FAULT_PROGRAM, 9, CALLER, 0, 0);
    if (rt_timed)
        return timed_config(config, reset_value);
    perfcounter_t before = counter();
    if (config != COUNT_SAME)
        mode = config;
    if (reset_value) {
        last_reset = last_cycles;
        zero[__rt_me] = last_reset;
    }
    return before;
}

API perfcounter_t perfcounter_get(void)
{
    return counter();
}

API perfcounter_t perfcounter_config(perfcounter_config_t config, bool reset_value)
{
    return configure(config, reset_value);
}

/* The instructions `time` and `time_cfg` of asm statements: also of a program that has the functions
 * above itself, as UPMEM's library has them. */
API uint32_t __rt_asm_time(void)
{
    return (uint32_t)(counter() >> 4);
}

API uint32_t __rt_asm_time_cfg(uint32_t how)
{
    return (uint32_t)(configure((perfcounter_config_t)(how >> 1), how & 1) >> 4);
}

API perfcounters_t perfcounter_get_both(bool reset_values)
{
    perfcounters_t both;
    if (rt_timed) {
        rt_time_event(4);
        both.cycles = (rt_time_now() - zero_cycles) & 0xffffffff0ull;
        both.instr = (rt_time_instructions() - zero_instructions) & 0xffffffff0ull;
        if (reset_values) {
            zero_cycles = rt_time_now();
            zero_instructions = rt_time_instructions();
        }
        return both;
    }
    counter();
    uint64_t cycles = last_cycles - zero[__rt_me];
    both.cycles = cycles & 0xfffffffffull;
    both.instr = rt_instructions(cycles) & 0xfffffffffull;
    if (reset_values)
        zero[__rt_me] = last_reset = last_cycles;
    return both;
}
