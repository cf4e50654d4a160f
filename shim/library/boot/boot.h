/* The gate that every exported function passes before it may touch Python. */
#ifndef CUDLA_SIM_BOOT_H
#define CUDLA_SIM_BOOT_H

#define SIM_EXPORT __attribute__((visibility("default")))

enum sim_state { SIM_COLD = 0, SIM_READY = 1, SIM_FAILED = 2, SIM_CLOSED = 3 };

extern int sim_state_word;
extern int sim_below_leak_sanitizer; /* each thread passes the slow path */

/* Slow path of sim_enter: starts or finds Python, once. Returns 0 when Python is ready. */
int sim_boot(void);

/* 0 when the implementation can be called; anything else means "answer with a failure". */
static inline int sim_enter(void)
{
    return __builtin_expect(__atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_READY &&
                                !sim_below_leak_sanitizer, 1)
               ? 0
               : sim_boot();
}

/* True when Python has ended: there is nothing left to release or to wait for. Static destructors
 * still call what does so, and take its failure for one of theirs. */
static inline int sim_ended(void)
{
    return __atomic_load_n(&sim_state_word, __ATOMIC_ACQUIRE) == SIM_CLOSED;
}

/* Why Python is not available, as one sentence; empty when it is. */
const char *sim_boot_problem(void);

#endif
