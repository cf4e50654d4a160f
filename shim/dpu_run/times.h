/*
 * Hardware time of a launch: see times.c. The functions do nothing where a launch is not timed,
 * except rt_time_now and rt_time_instructions, which are only for timed ones.
 */
#ifndef DPU_RUN_TIMES_H
#define DPU_RUN_TIMES_H

#include "rt.h"

extern bool rt_timed;

void rt_time_begin(bool wanted);
void rt_time_end(void);
uint64_t rt_time_now(void); /* cycles */
uint64_t rt_time_instructions(void);

void rt_time_settle(void);
void rt_time_settle_release(void); /* only what the tasklet has released; it is at the time of that then */
void rt_time_block(void);
void rt_time_ready(uint32_t tasklet);
NORETURN void rt_time_tasklet_end(void);
uint64_t rt_time_first(void); /* the stack pointer of the tasklet that begins */
void rt_time_dma(uint32_t offset, uint32_t size, bool write);
extern bool rt_bits[256];
void rt_time_take(uint32_t bit, uint64_t pc);
void rt_time_free(uint32_t bit);
void rt_time_add(uint32_t instructions);

void rt_profile_begin(void); /* profile.c */
void rt_profile_end(void);

/* What follows happens at the time to which the tasklet has come by its instructions. */
static inline void rt_time_event(uint32_t instructions)
{
    if (rt_timed) {
        rt_time_add(instructions);
        rt_time_settle();
    }
}

#endif
