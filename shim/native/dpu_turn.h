/*
 * What the C side and Python share of a rank (upmem/turns.py): the library copies without Python
 * while no job is queued (words[0]) and no operation has or wants the rank to itself (words[1]).
 * words[2] counts the copies of single DPUs meanwhile, each of which has the word of its DPU
 * (words[4 + index]), or is SIM_DPU_WHOLE for a copy of several. An operation that takes its turn
 * waits for the end of such copies.
 */
#ifndef CUDLA_SIM_DPU_TURN_H
#define CUDLA_SIM_DPU_TURN_H

#include <sched.h>
#include <stdint.h>

enum { SIM_DPU_QUEUED, SIM_DPU_TAKEN, SIM_DPU_COPYING, SIM_DPU_OWN = 4 };
#define SIM_DPU_WHOLE 0xffffffffu

/* How often a copy looks whether another one has ended; then Python waits for it. */
enum { SIM_DPU_LOOKS = 2000, SIM_DPU_PATIENCE = 200 };

static inline int sim_dpu_rank_free(const uint32_t *words)
{
    return (__atomic_load_n(&words[SIM_DPU_QUEUED], __ATOMIC_SEQ_CST) |
            __atomic_load_n(&words[SIM_DPU_TAKEN], __ATOMIC_SEQ_CST)) == 0;
}

/* `index`: of the only DPU in its rank, or -1 for several. */
static inline void sim_dpu_end_copy(uint32_t *words, int index)
{
    if (index < 0) {
        __atomic_store_n(&words[SIM_DPU_COPYING], 0, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(&words[SIM_DPU_OWN + index], 0, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&words[SIM_DPU_COPYING], 1, __ATOMIC_RELEASE);
}

static inline int sim_dpu_try_copy(uint32_t *words, int index)
{
    uint32_t count = index < 0 ? 0 : __atomic_load_n(&words[SIM_DPU_COPYING], __ATOMIC_RELAXED);
    if (count == SIM_DPU_WHOLE ||
        !__atomic_compare_exchange_n(&words[SIM_DPU_COPYING], &count,
                                     index < 0 ? SIM_DPU_WHOLE : count + 1, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED)) {
        return 0;
    }
    if (index >= 0 && __atomic_exchange_n(&words[SIM_DPU_OWN + index], 1, __ATOMIC_ACQUIRE) != 0) {
        __atomic_fetch_sub(&words[SIM_DPU_COPYING], 1, __ATOMIC_RELEASE);
        return 0;
    }
    return 1;
}

/*
 * 1: the caller may copy, and calls sim_dpu_end_copy then; 0: Python has to do it. Most turns are
 * short (a copy by Python), so a `patient` caller lets them pass: in Python it would be in the way of
 * the others in turn.
 */
static inline int sim_dpu_begin_copy(uint32_t *words, int index, int patient)
{
    for (int look = 0; look < SIM_DPU_LOOKS; look++) {
        if (__atomic_load_n(&words[SIM_DPU_QUEUED], __ATOMIC_SEQ_CST) != 0) {
            return 0;
        }
        if (__atomic_load_n(&words[SIM_DPU_TAKEN], __ATOMIC_SEQ_CST) != 0) {
            if (!patient || look >= SIM_DPU_PATIENCE) {
                return 0;
            }
            sched_yield();
        } else if (sim_dpu_try_copy(words, index)) {
            if (sim_dpu_rank_free(words)) {
                return 1;
            }
            sim_dpu_end_copy(words, index);
        }
    }
    return 0;
}

#endif
