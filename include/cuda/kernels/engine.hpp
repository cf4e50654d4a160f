/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/engine.hpp - a block of a kernel on the CPU: its threads run one after another on one
 * stack until one of them waits; from there each has a stack of its own.
 *
 * Included by what `cudla-sim nvcc` compiles, never by other compilers. The standard library's
 * containers and threads are not used: with `using namespace std` their names would be ambiguous in
 * programs.
 *
 * A barrier counts arrivals against threads that have not ended, so a thread that returned early
 * blocks nobody.
 */
#ifndef CUDLA_SIM_KERNELS_ENGINE_H
#define CUDLA_SIM_KERNELS_ENGINE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include "../crt/launches.h"
#include "switch.hpp"

/* Indices of the thread that runs. */
inline thread_local uint3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0};
inline thread_local dim3 blockDim, gridDim;

namespace cudla_sim {

constexpr unsigned WARP = 32;
constexpr unsigned MOST_THREADS = 1024; /* in a block */
constexpr size_t SLOT_BYTES = 32;       /* of a value that lanes exchange */
constexpr size_t STACK_BYTES = 256 << 10;
constexpr size_t STACK_GUARD = 64 << 10; /* below a stack: without access */
constexpr size_t DYNAMIC_ALIGN = 1024;   /* of dynamic shared memory */

/* Why a launch failed; the first thread that fails fills it. */
struct Failure {
    int happened = 0;
    cudaError_t error = cudaSuccess;
    char what[320] = "";
    uint3 block{0, 0, 0}, thread{0, 0, 0};

    bool claim() { return __atomic_exchange_n(&happened, 1, __ATOMIC_ACQ_REL) == 0; }
    explicit operator bool() const { return __atomic_load_n(&happened, __ATOMIC_RELAXED) != 0; }
};

/* A launch as all blocks see it. */
struct Shape {
    dim3 grid, block;
    size_t shared_bytes = 0;
    const char *kernel = "kernel";
    const void *function = nullptr; /* the kernel's address, where the launch has one */

    uint64_t blocks() const { return static_cast<uint64_t>(grid.x) * grid.y * grid.z; }
    unsigned threads() const { return block.x * block.y * block.z; }
};

/* A stack with the thread on it; it lies at the top of its own stack. */
struct alignas(64) Fiber {
    char *stack = nullptr;
    void *saved = nullptr;
    Fiber *next = nullptr; /* in the one queue that it is in */
    uint3 index{0, 0, 0};
    unsigned rank = 0;
    const char *waits_for = nullptr;
    bool leads = false; /* continues with the threads that have not begun */
    bool ended = false;

    char *top() { return reinterpret_cast<char *>(this); }
};

/* Fibers in their order. */
struct Waiting {
    Fiber *first = nullptr, *last = nullptr;

    void add(Fiber *fiber) {
        fiber->next = nullptr;
        (first ? last->next : first) = fiber;
        last = fiber;
    }
    void add_all(Waiting &other) {
        if (!other.first)
            return;
        (first ? last->next : first) = other.first;
        last = other.last;
        other.first = nullptr;
    }
    Fiber *take() {
        Fiber *fiber = first;
        if (fiber)
            first = fiber->next;
        return fiber;
    }
};

/* Values of a warp's lanes at one exchange, and the lanes that took part. */
struct Exchange {
    unsigned alive = 0;
    alignas(16) char slots[WARP][SLOT_BYTES];
};

/* The lanes of one mask. Two exchanges: some lanes may still read the previous one. */
struct LaneGroup {
    unsigned mask = 0, arrived = 0, round = 0;
    Waiting waiting;
    Exchange exchanges[2];
};

constexpr unsigned MOST_GROUPS = 32; /* masks that lanes of one warp use at a time */

struct Warp {
    unsigned alive = 0; /* lanes that have not ended */
    unsigned used = 0;
    LaneGroup groups[MOST_GROUPS];
};

struct Block {
    const Shape *shape = nullptr;
    Failure *failure = nullptr;
    void (*thread)(void *call) = nullptr;
    void *call = nullptr;
    uint3 index{0, 0, 0};
    unsigned threads = 0, next = 0, alive = 0, arrived = 0;
    unsigned votes[3] = {0, 0, 0}; /* count, and, or of a barrier that votes */
    unsigned last_votes[3] = {0, 0, 0};
    bool abandoned = false; /* a thread failed: no other continues */
    Fiber *current = nullptr, *all = nullptr;
    void *scheduler = nullptr; /* its saved stack pointer */
    Waiting ready, idle, at_barrier;
    Warp *warps = nullptr;
    Fiber **fibers = nullptr;
    unsigned fiber_count = 0;
    char *dynamic = nullptr; /* shared memory of the launch */

    Block(const Shape &of, Failure &failed, void (*run)(void *), void *with);
    ~Block();
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
    void execute(uint64_t number);
};

inline thread_local Block *block = nullptr;

inline unsigned rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned lane() { return rank() % WARP; }
inline Warp &warp() { return block->warps[rank() / WARP]; }

inline uint3 place(uint64_t number, const dim3 &in) {
    return uint3{static_cast<unsigned>(number % in.x), static_cast<unsigned>(number / in.x % in.y),
                 static_cast<unsigned>(number / (static_cast<uint64_t>(in.x) * in.y))};
}

/* From the fiber that runs to the scheduler of its block. */
inline void leave() { cudla_sim_switch(&block->current->saved, block->scheduler); }

/* Ends the block of the running thread, whatever is on its stack. */
[[noreturn]] inline void abandon() {
    block->abandoned = true;
    leave();
    __builtin_unreachable();
}

/* The running thread fails its launch. */
[[noreturn]] inline void fail_launch(cudaError_t error, const char *what) {
    Failure &failure = *block->failure;
    if (failure.claim()) {
        failure.error = error;
        snprintf(failure.what, sizeof failure.what, "%s", what);
        failure.block = block->index;
        failure.thread = threadIdx;
    }
    abandon();
}

inline void suspend(Block &own, Waiting &waiting, const char *what) {
    Fiber *fiber = own.current;
    fiber->index = threadIdx;
    fiber->rank = rank();
    fiber->leads = false;
    fiber->waits_for = what;
    waiting.add(fiber);
    leave();
    fiber->waits_for = nullptr;
    ::threadIdx = fiber->index;
}

inline void open_barrier(Block &own) {
    for (int i = 0; i < 3; i++)
        own.last_votes[i] = own.votes[i];
    own.votes[0] = own.votes[2] = 0;
    own.votes[1] = 1;
    own.arrived = 0;
    own.ready.add_all(own.at_barrier);
}

/* Waits until all threads of the block that have not ended are here. */
inline void block_barrier(const char *what) {
    Block &own = *block;
    if (++own.arrived == own.alive)
        open_barrier(own);
    else
        suspend(own, own.at_barrier, what);
}

inline unsigned alive_of(const Warp &lanes, unsigned mask) {
    return static_cast<unsigned>(__builtin_popcount(lanes.alive & mask));
}

inline LaneGroup &group_of(Warp &lanes, unsigned mask) {
    for (unsigned i = 0; i < lanes.used; i++)
        if (lanes.groups[i].mask == mask)
            return lanes.groups[i];
    for (unsigned i = 0; i < lanes.used; i++)
        if (!lanes.groups[i].arrived) { /* nobody waits with that mask */
            lanes.groups[i].mask = mask;
            return lanes.groups[i];
        }
    if (lanes.used == MOST_GROUPS)
        fail_launch(cudaErrorLaunchFailure,
                    "lanes of a warp wait with more than 32 different masks");
    LaneGroup &made = lanes.groups[lanes.used++];
    made.mask = mask;
    made.arrived = 0;
    return made;
}

inline void release_lanes(Block &own, Warp &lanes, LaneGroup &group) {
    group.exchanges[group.round++ % 2].alive = lanes.alive;
    group.arrived = 0;
    own.ready.add_all(group.waiting);
}

/* Waits until all lanes of the mask that have not ended are here. */
inline void meet_lanes(Warp &lanes, LaneGroup &group, const char *what) {
    Block &own = *block;
    if (++group.arrived >= alive_of(lanes, group.mask))
        release_lanes(own, lanes, group);
    else
        suspend(own, group.waiting, what);
}

inline void lanes_barrier(unsigned mask, const char *what) {
    Warp &lanes = warp();
    meet_lanes(lanes, group_of(lanes, mask), what);
}

/* All lanes of the mask give a value; `take` reads them before any lane continues. */
template <class T, class Take>
inline auto exchange(unsigned mask, T value, const char *what, Take take) {
    static_assert(sizeof(T) <= SLOT_BYTES, "values that lanes exchange have up to 32 bytes");
    Warp &lanes = warp();
    LaneGroup &group = group_of(lanes, mask);
    Exchange &given = group.exchanges[group.round % 2];
    memcpy(given.slots[lane()], &value, sizeof value);
    meet_lanes(lanes, group, what);
    return take(given);
}

template <class T> inline T slot(const Exchange &given, unsigned of) {
    T value;
    memcpy(&value, given.slots[of], sizeof value);
    return value;
}

inline void thread_ended(Block &own) {
    own.alive--;
    if (own.arrived && own.arrived == own.alive)
        open_barrier(own);
    Warp &lanes = warp();
    lanes.alive &= ~(1u << lane());
    for (unsigned i = 0; i < lanes.used; i++)
        if (lanes.groups[i].arrived &&
            lanes.groups[i].arrived >= alive_of(lanes, lanes.groups[i].mask))
            release_lanes(own, lanes, lanes.groups[i]);
}

/* What a fiber runs: the threads that have not begun, one after the other, until one of them waits.
 */
inline void fiber_main() {
    Block &own = *block;
    Fiber *fiber = own.current;
    while (fiber->leads && own.next < own.threads) {
        ::threadIdx = place(own.next++, own.shape->block);
        own.thread(own.call);
        thread_ended(own);
    }
    fiber->ended = true;
    leave();
    __builtin_unreachable();
}

inline Fiber *fresh_fiber(Block &own) {
    Fiber *fiber = own.idle.take();
    if (!fiber) {
        void *found = mmap(nullptr, STACK_BYTES + STACK_GUARD, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED)
            return nullptr;
        mprotect(found, STACK_GUARD, PROT_NONE);
        char *stack = static_cast<char *>(found) + STACK_GUARD;
        fiber = new (stack + STACK_BYTES - sizeof(Fiber)) Fiber;
        fiber->stack = stack;
        own.fibers[own.fiber_count++] = fiber;
    }
    fiber->leads = true;
    fiber->ended = false;
    fiber->waits_for = nullptr;
    fiber->saved = cudla_sim_fresh_stack(fiber->top(), fiber_main);
    return fiber;
}

/* Every thread that is left waits; a GPU would hang. */
inline void report_deadlock(Block &own) {
    own.abandoned = true;
    Failure &failure = *own.failure;
    if (!failure.claim())
        return;
    const Fiber *first = nullptr;
    unsigned count = 0;
    for (unsigned i = 0; i < own.fiber_count; i++) {
        const Fiber *fiber = own.fibers[i];
        if (fiber->ended || !fiber->waits_for)
            continue;
        count++;
        if (!first || fiber->rank < first->rank)
            first = fiber;
    }
    failure.error = cudaErrorLaunchTimeout;
    failure.block = own.index;
    failure.thread = first ? first->index : uint3{0, 0, 0};
    snprintf(failure.what, sizeof failure.what,
             "deadlock: %u of %u threads have ended, %u wait; this thread waits in %s",
             own.threads - own.alive, own.threads, count, first ? first->waits_for : "nothing");
}

inline Block::Block(const Shape &of, Failure &failed, void (*run)(void *), void *with)
    : shape(&of), failure(&failed), thread(run), call(with), threads(of.threads()) {
    unsigned warp_count = (threads + WARP - 1) / WARP;
    warps = static_cast<Warp *>(calloc(warp_count, sizeof(Warp)));
    fibers = static_cast<Fiber **>(calloc(threads + 1, sizeof(Fiber *)));
    void *room = nullptr;
    if (of.shared_bytes && posix_memalign(&room, DYNAMIC_ALIGN, of.shared_bytes) == 0)
        dynamic = static_cast<char *>(memset(room, 0, of.shared_bytes));
    if (!warps || !fibers || (of.shared_bytes && !dynamic)) {
        if (failed.claim()) {
            failed.error = cudaErrorLaunchOutOfResources;
            snprintf(failed.what, sizeof failed.what, "no memory for a block of %u threads",
                     threads);
        }
        threads = 0;
    }
}

inline Block::~Block() {
    for (unsigned i = 0; i < fiber_count; i++)
        munmap(fibers[i]->stack - STACK_GUARD, STACK_BYTES + STACK_GUARD);
    free(fibers);
    free(warps);
    free(dynamic);
}

/* Runs one block of the grid in the calling system thread. */
inline void Block::execute(uint64_t number) {
    block = this;
    index = ::blockIdx = place(number, shape->grid);
    ::blockDim = shape->block;
    ::gridDim = shape->grid;
    next = arrived = 0;
    alive = threads;
    votes[0] = votes[2] = 0;
    votes[1] = 1;
    for (unsigned w = 0; w * WARP < threads; w++) {
        unsigned left = threads - w * WARP;
        warps[w].alive = left >= WARP ? ~0u : (1u << left) - 1;
        warps[w].used = 0;
    }
    while (alive && !abandoned) {
        Fiber *fiber = next < threads ? fresh_fiber(*this) : ready.take();
        if (!fiber && next < threads) {
            if (failure->claim()) {
                failure->error = cudaErrorLaunchOutOfResources;
                failure->block = index;
                snprintf(failure->what, sizeof failure->what,
                         "no memory for the stack of a thread");
            }
            abandoned = true;
        } else if (!fiber) {
            report_deadlock(*this);
        } else {
            current = fiber;
            cudla_sim_switch(&scheduler, fiber->saved);
            if (fiber->ended)
                idle.add(fiber);
        }
    }
    current = nullptr;
    block = nullptr;
}

} // namespace cudla_sim

#endif
