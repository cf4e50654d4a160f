/* Some threads for one job: none outlives the call, so fork() and exit() meet nothing of ours. */
#ifndef CUDLA_SIM_PARALLEL_H
#define CUDLA_SIM_PARALLEL_H

#include <stddef.h>

/* Threads worth starting for so much work, the caller's included; at most one a core. */
size_t sim_threads_for(double nanoseconds);

/* Runs work(argument) on `threads` threads, one of them the caller's; fewer when the system gives
 * none. The function shares its work out itself. */
void sim_parallel(void (*work)(void *), void *argument, size_t threads);

#endif
