/*
 * Some threads for one job. Helpers are kept for the next one, and a job ends without those that have
 * not begun: on a busy machine a thread may take milliseconds to its first instruction.
 */
#ifndef CUDLA_SIM_PARALLEL_H
#define CUDLA_SIM_PARALLEL_H

#include <stddef.h>

/* Threads worth having for so much work, the caller's included; at most one a core. */
size_t sim_threads_for(double nanoseconds);

/* Runs work(argument) on up to `threads` threads, one of them the caller's. The function shares its
 * work out itself, and each call goes on until nothing is left. */
void sim_parallel(void (*work)(void *), void *argument, size_t threads);

#endif
