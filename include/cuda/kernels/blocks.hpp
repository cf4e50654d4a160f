/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/blocks.hpp - a block from its first thread to its last: what of the engine no kernel has inlined.
 */
#ifndef CUDLA_SIM_KERNELS_BLOCKS_H
#define CUDLA_SIM_KERNELS_BLOCKS_H

#include <sys/mman.h>

#include "engine.hpp"

namespace cudla_sim {

inline void fiber_main() {
    Block &own = *block;
    do
        own.run(own, own.call);
    while (own.begin_next());
    Fiber *fiber = own.current;
    fiber->ended = true;
    if (own.next >= own.threads) { /* else its stack would be the fresh one */
        if (Fiber *next = own.ready.take()) {
            own.idle.push(fiber);
            run_fiber(own, fiber, next);
        }
    }
    leave();
    __builtin_unreachable();
}

inline Fiber *fresh_fiber(Block &own) {
    Fiber *fiber = own.idle.take();
    if (!fiber) {
        void *found = mmap(nullptr, STACK_ROOM + STACK_GUARD, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED)
            fail("cudla-sim: %s: no memory for the stack of a thread%s\n", own.shape->kernel, "");
        mprotect(found, STACK_GUARD, PROT_NONE);
        char *stack = static_cast<char *>(found) + STACK_GUARD;
        size_t spread = (own.all.size() * STACK_STEP + sizeof(Fiber)) % STACK_SPREAD / alignof(Fiber) * alignof(Fiber);
        fiber = new (stack + STACK_ROOM - sizeof(Fiber) - spread) Fiber;
        fiber->stack = stack;
        own.all.add(fiber);
    }
    fiber->ended = false;
    fiber->thread.waits_for = nullptr;
    fiber->saved = cudla_sim_fresh_stack(fiber->top(), fiber_main);
    return fiber;
}

/* The lanes that have come have been waited for long enough. */
inline void close_gathering(Block &own, size_t which) {
    Gathering closed = own.gatherings[which];
    own.gatherings[which] = own.gatherings.back();
    own.gatherings.drop_last();
    for (Fiber *fiber = closed.waiting.first; fiber; fiber = fiber->next)
        fiber->thread.gathered = closed.mask;
    own.ready.add_all(closed.waiting);
}

/* The first in the order of the program: its lanes come to the other places, too. Unless they come back to it
 * again and again: they may wait for what others have yet to store. */
inline size_t first_gathering(Block &own) {
    constexpr unsigned PATIENCE = 64;
    size_t first = 0;
    for (size_t i = 1; i < own.gatherings.size(); i++)
        if (own.gatherings[i].place < own.gatherings[first].place)
            first = i;
    own.times = own.gatherings[first].place == own.went_on ? own.times + 1 : 0;
    own.went_on = own.gatherings[first].place;
    return own.times < PATIENCE ? first : (first + own.times) % own.gatherings.size();
}

CUDLA_SIM_ONCE void close_first_gathering(Block &own) { close_gathering(own, first_gathering(own)); }

CUDLA_SIM_ONCE Fiber *another_fiber(Block &own) {
    if (own.next >= own.threads) {
        if (!own.gatherings.empty())
            close_first_gathering(own);
        return own.ready.take();
    }
    Fiber *fiber = fresh_fiber(own);
    fiber->leads = true;
    return fiber;
}

inline Block::~Block() {
    for (Fiber *fiber : all)
        munmap(fiber->stack - STACK_GUARD, STACK_ROOM + STACK_GUARD);
}

CUDLA_SIM_ONCE void count_all_ended(Block &own) {
    if (own.together) /* the rewriter saw nothing that waits (cuda_kernels/regions/waiting.py) */
        fail_launch(cudaErrorLaunchFailure, "a function that it calls waits for other threads, which its text does "
                                            "not tell; compile it with CUDLA_SIM_CUDA_BARRIERS=threads");
    own.quiet = Quiet::NO;
    unsigned first = rank();
    own.alive = own.threads - first;
    for (unsigned w = 0; w <= first / WARP; w++)
        own.warps[w].alive = w < first / WARP ? 0 : own.warps[w].alive & ~((1u << first % WARP) - 1);
}

CUDLA_SIM_ONCE unsigned gather(unsigned place, const char *what) {
    volatile char below[4096]; /* malloc's: where the stack is full, that is told before anything has changed */
    below[0] = 0;
    Unwatched ours;
    Block &own = *block;
    count_ended(own);
    Fiber *fiber = own.current;
    unsigned number = rank() / WARP;
    size_t at = 0;
    while (at < own.gatherings.size() &&
           (own.gatherings[at].place != place || own.gatherings[at].warp != number))
        at++;
    if (at == own.gatherings.size()) {
        own.gatherings.add();
        own.gatherings[at].place = place;
        own.gatherings[at].warp = number;
    }
    own.gatherings[at].mask |= 1u << lane();
    if (own.gatherings[at].mask == own.warps[number].alive) {
        unsigned mask = own.gatherings[at].mask;
        close_gathering(own, at);
        return mask;
    }
    suspend(own, own.gatherings[at].waiting, what);
    return fiber->thread.gathered;
}

CUDLA_SIM_ONCE Tile &tile_of(unsigned size) {
    Unwatched ours;
    Block &own = *block;
    unsigned first = rank() / size * size;
    for (size_t i = 0; i < own.tiles.size(); i++)
        if (own.tiles[i].first == first && own.tiles[i].size == size)
            return own.tiles[i];
    Tile &made = own.tiles.add();
    made.first = first;
    made.size = size;
    made.slots.resize(size * SLOT_BYTES);
    return made;
}

CUDLA_SIM_ONCE void thread_ended(Block &own) {
    own.alive--;
    Warp &lanes = warp();
    lanes.alive &= ~(1u << lane());
    if (own.everybody.arrived && own.everybody.arrived == own.alive)
        close_block_barrier(own);
    for (unsigned i = 0; i < lanes.used; i++) {
        LanesMeeting &meeting = lanes.meetings[i];
        if (meeting.arrived &&
            meeting.arrived >= count_bits(meeting.mask & lanes.alive))
            release_lanes(own, lanes, meeting);
    }
    for (Numbered &meeting : own.numbered)
        if (meeting.arrived && !meeting.expected && meeting.arrived == own.alive)
            release(own, meeting);
    for (size_t i = 0; i < own.tiles.size(); i++)
        if (own.tiles[i].meeting.arrived && all_here(own, own.tiles[i]))
            release(own, own.tiles[i].meeting);
}

[[noreturn]] CUDLA_SIM_ONCE void exit_thread() {
    Unwatched ours;
    Block &own = *block;
    count_ended(own);
    Fiber *fiber = own.current;
    if (fiber->leads) {
        own.next = rank() + 1;
        own.next_index = behind(threadIdx, own.shape->block);
        fiber->leads = false;
    }
    thread_ended(own);
    fiber->ended = true;
    leave();
    __builtin_unreachable();
}

/* Every thread that is left waits. A GPU would hang. */
inline void nobody_runs(Block &own) {
    own.abandoned = true;
    if (!own.failure->claim())
        return;
    Failure &failure = *own.failure;
    failure.error = cudaErrorLaunchTimeout;
    failure.block = own.index;
    size_t used = static_cast<size_t>(snprintf(failure.what, sizeof failure.what,
                                               "no thread can go on; %u of %u have ended",
                                               own.threads - own.alive, own.threads));
    struct Place {
        const char *what;
        const Thread *first;
        unsigned count;
    };
    Vector<Place> places; /* a few: the kinds of waiting */
    for (const Fiber *fiber : own.all) {
        const Thread &thread = fiber->thread;
        if (fiber->ended || !thread.waits_for)
            continue;
        size_t at = 0;
        while (at < places.size() && strcmp(places[at].what, thread.waits_for) != 0)
            at++;
        if (at == places.size())
            places.add({thread.waits_for, &thread, 0});
        places[at].count++;
        if (thread.rank < places[at].first->rank)
            places[at].first = &thread;
    }
    for (const Place &place : places) {
        const uint3 &index = place.first->index;
        if (&place == &places.front())
            failure.thread = index;
        if (used < sizeof failure.what - 80)
            used += static_cast<size_t>(snprintf(failure.what + used, sizeof failure.what - used,
                                                 "; %u wait%s in %s, (%u, %u, %u) first", place.count,
                                                 place.count == 1 ? "s" : "", place.what, index.x, index.y,
                                                 index.z));
    }
}

/* Nobody comes back to what is on their stacks. */
inline void Block::forget_threads() {
    idle = ready = everybody.waiting = Line();
    gatherings.clear();
    numbered.clear();
    everybody.arrived = 0;
    for (Fiber *fiber : all) {
        idle.push(fiber);
        fiber->thread.waits_for = nullptr;
        fiber->leads = false;
    }
}

/* A block from its first thread on; what barriers leave behind is as at the end of a block. */
inline void Block::begin() {
    alive = threads;
    next = 0;
    next_index = uint3{0, 0, 0};
    quiet = Quiet::YES;
    together = whole = false;
}

/* The next block, in the fiber that ran a whole one. False where that one has to be tidied up first, and at the end. */
inline bool Block::begin_next() {
#if !defined(CUDLA_SIM_CHECKS)
    if (quiet == Quiet::YES && blocks_left && !*failure) {
        blocks_left--;
        index = behind(index, shape->grid);
        ::blockIdx.set(index);
        begin();
        return true;
    }
#endif
    return false;
}

/* So many blocks, from one on. */
inline void Block::execute(const Shape &of, uint3 at, uint64_t count, RunThreads threads_of, void *call_of,
                           Failure &failed) {
    shape = &of;
    failure = &failed;
    abandoned = false;
    run = threads_of;
    call = call_of;
    threads = of.block.x * of.block.y * of.block.z;
    if (dynamic.size() < of.shared_bytes + DYNAMIC_ALIGN)
        dynamic.resize(of.shared_bytes + DYNAMIC_ALIGN);
    warps.resize((threads + WARP - 1) / WARP);
    Block *outer = block;
    Thread *outer_self = self;
    const auto outer_x = ::threadIdx.x.whole();
    const uint3 outer_thread = threadIdx, outer_index = blockIdx;
    const dim3 outer_block = blockDim, outer_grid = gridDim;
    block = this;
    ::blockDim.set(of.block);
    ::gridDim.set(of.grid);
    Unwatched ours;
    index = at;
    for (blocks_left = count; blocks_left && !abandoned && !failed; index = behind(index, of.grid)) {
        blocks_left--;
        ::blockIdx.set(index);
        begin();
        votes[0] = votes[2] = 0;
        votes[1] = 1;
        for (size_t w = 0; w < warps.size(); w++) {
            unsigned left = threads - static_cast<unsigned>(w) * WARP;
            warps[w].alive = left >= WARP ? ~0u : (1u << left) - 1;
            warps[w].used = warps[w].turns = 0;
        }
        for (size_t i = 0; i < tiles.size(); i++) {
            tiles[i].meeting.arrived = 0;
            tiles[i].meeting.waiting = Line();
        }
        numbered.clear(); /* some may have come to one for which nobody waited */
        check_begins(*this);
        while (alive && !abandoned) {
            current = next_fiber(*this);
            if (!current) {
                nobody_runs(*this);
                break;
            }
            self = &current->thread;
            cudla_sim_switch(&scheduler, current->saved);
            stop_watching();
            if (current->ended)
                idle.push(current);
        }
        check_ends(*this);
    }
    if (abandoned)
        forget_threads();
    current = nullptr;
    block = outer;
    self = outer_self;
    ::threadIdx.set(outer_thread);
    ::threadIdx.x.restore(outer_x);
    ::blockIdx.set(outer_index);
    ::blockDim.set(outer_block);
    ::gridDim.set(outer_grid);
}

} // namespace cudla_sim

#endif
