/*
 * How a launch is handed to a worker and back. Waking a process costs far more than a small kernel,
 * so both sides look at the gate for a moment before they sleep, and messages on sockets go only to
 * who sleeps.
 *
 * A launch is POSTED. One thread of the host may claim it and wait for it: it first looks (LOOKING),
 * then sleeps (ASLEEP) until a message comes on the worker's socket. The worker makes it HANDED, to
 * that thread alone, or ANSWERED when nobody waits; who finds it so makes it TAKEN and works off the
 * result. When nobody does that within the moment that the worker looks for its next launch, it sends
 * a message on its second socket, where a thread of the host listens.
 */
#ifndef CUDLA_SIM_VPU_GATE_H
#define CUDLA_SIM_VPU_GATE_H

#include <stdint.h>

/* Microseconds that a side looks before it sleeps: about what waking it costs. */
#define PVA_LOOK_US 50u
#define PVA_GATE_AT 0xF80u

enum pva_gate_state { PVA_TAKEN, PVA_POSTED, PVA_LOOKING, PVA_ASLEEP, PVA_ANSWERED, PVA_HANDED };

struct pva_gate {
    uint32_t posted;         /* the number of the last launch */
    uint32_t worker_sleeps;  /* it must be told on its socket */
    uint32_t state;
    uint32_t reserved;
};

/* Where a moment ends; now when there is only one processor, where looking is in the way. */
uint64_t pva_moment_ends(void);
uint64_t pva_now_us(void);

static inline void pva_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
