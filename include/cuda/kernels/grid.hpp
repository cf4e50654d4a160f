/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/grid.hpp - the blocks of a launch over the cores, and threads of kernels that fail.
 */
#ifndef CUDLA_SIM_KERNELS_GRID_H
#define CUDLA_SIM_KERNELS_GRID_H

#include <pthread.h>
#include <sched.h>

#include "engine.hpp"

namespace cudla_sim {

/* --- threads that access unmapped memory ------------------------------------------------------ */

inline int on_trap(cudlaSimTrap *trap) {
    Block *own = block;
    if (!own || !own->current)
        return 0;
    Failure &failure = *own->failure;
    if (failure.claim()) {
        char *address = static_cast<char *>(trap->address),
             *stack = static_cast<char *>(trap->stack);
        char *bottom = own->current->stack;
        failure.block = own->index;
        failure.thread = ::threadIdx;
        if (trap->division) {
            failure.error = cudaErrorLaunchFailure;
            snprintf(failure.what, sizeof failure.what, "division of an integer by zero");
        } else if (address < bottom && address >= bottom - STACK_GUARD &&
                   stack < bottom + STACK_BYTES) {
            failure.error = cudaErrorLaunchFailure;
            snprintf(failure.what, sizeof failure.what, "the stack of a thread, %zu KiB, is full",
                     STACK_BYTES >> 10);
        } else {
            failure.error = cudaErrorIllegalAddress;
            snprintf(failure.what, sizeof failure.what,
                     "access to address 0x%llx, where no memory is mapped",
                     static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(trap->address)));
        }
    }
    /* Continues in abandon(), on the top of the fiber's stack: what is on it is not needed. */
    uintptr_t top = reinterpret_cast<uintptr_t>(own->current->top()) & ~uintptr_t{15};
#if defined(__x86_64__)
    trap->go_on_stack = reinterpret_cast<void *>(top - 72); /* as after a call */
#else
    trap->go_on_stack = reinterpret_cast<void *>(top - 64);
#endif
    trap->go_on = reinterpret_cast<void *>(&abandon);
    return 1;
}

/* What a system thread needs before it runs blocks. */
struct SignalStack {
    SignalStack() : own(__cudlaSimSignalStack(nullptr)) { __cudlaSimCatch(on_trap); }
    ~SignalStack() {
        if (own)
            __cudlaSimSignalStack(own);
    }
    SignalStack(const SignalStack &) = delete;
    SignalStack &operator=(const SignalStack &) = delete;
    void *own;
};

/* --- blocks -------------------------------------------------------------------------------------
 */

constexpr unsigned MOST_CORES = 64;
constexpr uint64_t THREADS_WORTH_HELP = 4096; /* starting a system thread costs as much */

struct Work {
    const Shape *shape;
    void (*thread)(void *);
    void *call;
    Failure *failure;
    uint64_t next;

    void run() {
        SignalStack signals;
        Block own(*shape, *failure, thread, call);
        uint64_t count = shape->blocks(), number;
        while (!*failure && (number = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)) < count)
            own.execute(number);
    }
    static void *start(void *self) {
        static_cast<Work *>(self)->run();
        return nullptr;
    }
};

inline unsigned cores() {
    cpu_set_t set;
    unsigned count =
        sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
    return count < MOST_CORES ? count : MOST_CORES;
}

/* Runs all blocks, and reports the failure of a thread. `thread(call)` is the kernel for one
 * thread. */
inline void run_grid(const Shape &shape, void (*thread)(void *), void *call) {
    Failure failure;
    Work work{&shape, thread, call, &failure, 0};
    pthread_t helpers[MOST_CORES];
    unsigned count = 0;
    uint64_t blocks = shape.blocks();
    if (blocks > 1 && blocks * shape.threads() >= THREADS_WORTH_HELP)
        for (unsigned wanted = cores() - 1; count < wanted && count + 1 < blocks; count++)
            if (pthread_create(&helpers[count], nullptr, &Work::start, &work) != 0)
                break; /* those that started do all of it */
    work.run();
    for (unsigned i = 0; i < count; i++)
        pthread_join(helpers[i], nullptr);
    if (!failure)
        return;
    char text[512];
    snprintf(text, sizeof text, "kernel %.100s, block (%u, %u, %u), thread (%u, %u, %u): %s",
             shape.kernel, failure.block.x, failure.block.y, failure.block.z, failure.thread.x,
             failure.thread.y, failure.thread.z, failure.what);
    fprintf(stderr, "cudla-sim: %s\n", text);
    fflush(stderr);
    __cudlaSimFault(failure.error, text);
}

} // namespace cudla_sim

#endif
