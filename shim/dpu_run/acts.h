/* What tasklets do in hardware time without running: see acts.c. */
#ifndef DPU_RUN_ACTS_H
#define DPU_RUN_ACTS_H

#include "times.h"

/* Instructions of the library's routines, for launches in hardware time. */
#define BARRIER_BEFORE 4u
#define BARRIER_INSIDE 10u
#define BARRIER_RESUME_HALVES 9u /* for each tasklet that waits, in half instructions */
#define SEM_INSTRUCTIONS 14u
#define VMUTEX_INSTRUCTIONS 6u

/* Tasklets that wait for a virtual mutex, in this way or in that of sync.c. */
extern uint32_t rt_vmutex_waiters;

struct barrier_t;
struct sem_t;

void rt_acts_begin(void);
void rt_time_barrier(struct barrier_t *barrier, uint64_t pc);
void rt_time_sem_take(struct sem_t *semaphore, uint64_t pc);
void rt_time_vmutex_lock(uint32_t object, uint64_t pc);

void rt_time_sem_give(struct sem_t *semaphore);
void rt_time_vmutex_unlock(uint32_t object);

#endif
