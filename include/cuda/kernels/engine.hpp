/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/engine.hpp - kernels on the CPU: blocks over the cores, the threads of a block one after
 * another on one stack until one of them waits; from there each on a stack of its own.
 *
 * Included by what `cudla-sim nvcc` compiles, never by other compilers.
 *
 * A thread that waits keeps the stack it is on; the next thread begins on a fresh one. So a kernel
 * without barriers costs a call a thread, and nothing is decided by what the first thread does. A
 * barrier counts arrivals against threads that have not ended, so one that left early hangs nobody.
 */
#ifndef CUDLA_SIM_KERNELS_ENGINE_H
#define CUDLA_SIM_KERNELS_ENGINE_H

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "../crt/launches.h"
#include "failure.hpp"
#include "switch.hpp"
#include "watching.hpp"

/* Objects, as programs have variables of these names; they are those of the thread that runs. */
inline thread_local uint3 threadIdx{}, blockIdx{};
inline thread_local dim3 blockDim{}, gridDim{};

namespace cudla_sim {

struct Block;
struct Fiber;

/* One waiting place: threads of a block, of a warp, or of some of its lanes. */
struct Meeting {
    unsigned mask = 0; /* lanes; 0 is the whole block */
    unsigned arrived = 0;
    const char *what = "";
    std::vector<Fiber *> waiting;
};

struct Thread {
    uint3 index{0, 0, 0};
    unsigned rank = 0;
    const char *waits_for = nullptr;
};

struct Fiber {
    char *stack = nullptr;
    void *saved = nullptr;
    Thread thread;
    bool leads = false; /* goes on with the threads that have not begun */
    bool ended = false;
};

constexpr unsigned WARP = 32;
constexpr size_t SLOT_BYTES = 32; /* of a value that lanes exchange */
constexpr size_t STACK_BYTES = 256 << 10;
constexpr size_t STACK_GUARD = 64 << 10; /* below it: without access */

struct Warp {
    alignas(16) char slots[WARP][SLOT_BYTES];
    std::vector<Meeting> meetings;
    unsigned alive = 0; /* lanes that have not ended */
};

/* A tile of more threads than a warp has: their ranks are in a row. */
struct Tile {
    unsigned first = 0, size = 0;
    Meeting meeting;
    std::vector<char> slots; /* a value of each */
};

/* The launch as all blocks see it. */
struct Shape {
    dim3 grid, block;
    size_t shared_bytes = 0;
    const char *kernel = "kernel";
    const void *function = nullptr; /* its address, where the launch tells it */
    struct Grid *cooperative = nullptr;
};

typedef void (*RunThreads)(Block &, void *call);

struct Block {
    const Shape *shape = nullptr;
    uint3 index{0, 0, 0};
    RunThreads run = nullptr;
    void *call = nullptr;
    unsigned threads = 0, next = 0, alive = 0;
    bool quiet = true; /* nobody has waited in it */
    Fiber *current = nullptr;
    void *scheduler = nullptr; /* its saved stack pointer */
    std::vector<Fiber *> ready, idle;
    size_t taken = 0; /* of those that are ready */
    std::vector<Fiber *> all;
    Meeting everybody;
    std::vector<Warp> warps;
    std::deque<Tile> tiles; /* those that have met */
    unsigned votes[3] = {0, 0, 0}; /* count, and, or of a barrier that votes */
    unsigned last_votes[3] = {0, 0, 0};
    std::vector<char> dynamic;
    Failure *failure = nullptr;
    bool abandoned = false; /* a thread failed: no other goes on */
#if defined(CUDLA_SIM_CHECKS)
    std::shared_ptr<void> race; /* check_race.hpp */
#endif

    ~Block();
    void forget_threads();
    void execute(const Shape &of, uint3 at, RunThreads threads_of, void *call_of, Failure &failed);
};

inline thread_local Block *block = nullptr;
inline thread_local Thread *self = nullptr;

[[noreturn]] inline void fail(const char *format, const char *kernel, const char *what) {
    fprintf(stderr, format, kernel, what);
    fflush(stderr);
    abort();
}

/* Out of the fiber that runs, back to who schedules. */
inline void leave() { cudla_sim_switch(&block->current->saved, block->scheduler); }

inline void fiber_main() {
    Block &own = *block;
    own.run(own, own.call);
    own.current->ended = true;
    leave();
    __builtin_unreachable();
}

inline Fiber *fresh_fiber(Block &own) {
    Fiber *fiber;
    if (!own.idle.empty()) {
        fiber = own.idle.back();
        own.idle.pop_back();
    } else {
        fiber = new Fiber;
        void *found = mmap(nullptr, STACK_BYTES + STACK_GUARD, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED)
            fail("cudla-sim: %s: no memory for the stack of a thread%s\n", own.shape->kernel, "");
        mprotect(found, STACK_GUARD, PROT_NONE);
        fiber->stack = static_cast<char *>(found) + STACK_GUARD;
        own.all.push_back(fiber);
    }
    fiber->ended = false;
    fiber->saved = cudla_sim_fresh_stack(fiber->stack + STACK_BYTES, fiber_main);
    return fiber;
}

inline Block::~Block() {
    for (Fiber *fiber : all) {
        munmap(fiber->stack - STACK_GUARD, STACK_BYTES + STACK_GUARD);
        delete fiber;
    }
}

inline void thread_ended(Block &);

/* The threads of a block as a loop, on the stack of whoever leads. `one` runs a thread. What a
 * thread is goes by two stores; who waits keeps the rest (suspend). */
template <class One> inline void each_thread(Block &own, One &&one) {
    Fiber *fiber = own.current;
    Thread &thread = fiber->thread;
    const dim3 size = own.shape->block;
    unsigned rank = own.next;
    uint3 at{rank % size.x, rank / size.x % size.y, rank / (size.x * size.y)};
    self = &thread;
    for (; at.z < size.z; at.z++, at.y = 0) {
        for (; at.y < size.y; at.y++, at.x = 0) {
            threadIdx = at;
            for (; at.x < size.x; at.x++) {
                threadIdx.x = at.x;
                thread.rank = rank++;
                one();
                if (__builtin_expect(!own.quiet, 0)) {
                    thread_ended(own);
                    if (!fiber->leads)
                        return; /* it has waited: another leads now */
                    threadIdx = at;
                }
            }
        }
    }
    own.next = own.threads;
    if (own.quiet)
        own.alive = 0;
}

/* Before the first thread waits: those before it have ended, and nobody counted them. */
inline void count_ended(Block &own) {
    if (!own.quiet)
        return;
    own.quiet = false;
    unsigned rank = self->rank;
    own.alive = own.threads - rank;
    for (unsigned w = 0; w <= rank / WARP; w++)
        own.warps[w].alive = w < rank / WARP ? 0 : own.warps[w].alive & ~((1u << rank % WARP) - 1);
}

inline void release(Block &own, Meeting &meeting) {
    if (&meeting != &own.everybody)
        check_met(own, meeting.waiting);
    own.ready.insert(own.ready.end(), meeting.waiting.begin(), meeting.waiting.end());
    meeting.waiting.clear();
    meeting.arrived = 0;
}

inline void suspend(Block &own, Meeting &meeting, const char *what) {
    Fiber *fiber = own.current;
    fiber->thread.index = threadIdx;
    if (fiber->leads)
        own.next = fiber->thread.rank + 1;
    fiber->leads = false;
    fiber->thread.waits_for = what;
    meeting.waiting.push_back(fiber);
    leave();
    fiber->thread.waits_for = nullptr;
    threadIdx = fiber->thread.index;
}

inline void close_block_barrier(Block &own) {
    check_all_met(own);
    for (int i = 0; i < 3; i++)
        own.last_votes[i] = own.votes[i];
    own.votes[0] = own.votes[2] = 0;
    own.votes[1] = 1;
    release(own, own.everybody);
}

/* Waits until all threads of the block that have not ended are here. */
inline void block_barrier(const char *what) {
    Unwatched ours;
    Block &own = *block;
    count_ended(own);
    own.everybody.arrived++;
    if (own.everybody.arrived == own.alive)
        close_block_barrier(own);
    else
        suspend(own, own.everybody, what);
}

inline unsigned lane() { return self->rank % WARP; }
inline Warp &warp() { return block->warps[self->rank / WARP]; }

inline Meeting &meeting_of(Warp &own, unsigned mask) {
    for (Meeting &meeting : own.meetings)
        if (meeting.mask == mask)
            return meeting;
    own.meetings.emplace_back();
    own.meetings.back().mask = mask;
    return own.meetings.back();
}

/* Waits until all lanes of the mask that have not ended are here. */
inline void lanes_barrier(unsigned mask, const char *what) {
    Unwatched ours;
    Block &own = *block;
    Warp &lanes = warp();
    count_ended(own);
    Meeting &meeting = meeting_of(lanes, mask);
    meeting.arrived++;
    if (meeting.arrived >= static_cast<unsigned>(__builtin_popcount(mask & lanes.alive)))
        release(own, meeting);
    else
        suspend(own, meeting, what);
}

inline bool all_here(const Block &own, const Tile &tile) {
    unsigned alive = 0;
    for (unsigned w = tile.first / WARP; w < (tile.first + tile.size) / WARP && w < own.warps.size(); w++)
        alive += static_cast<unsigned>(__builtin_popcount(own.warps[w].alive));
    return tile.meeting.arrived >= alive;
}

/* The tile of so many threads that the running one is in. */
inline Tile &tile_of(unsigned size) {
    Unwatched ours;
    Block &own = *block;
    unsigned first = self->rank / size * size;
    for (Tile &tile : own.tiles)
        if (tile.first == first && tile.size == size)
            return tile;
    own.tiles.emplace_back();
    Tile &made = own.tiles.back();
    made.first = first;
    made.size = size;
    made.slots.resize(size * SLOT_BYTES);
    return made;
}

/* Waits until all threads of the tile that have not ended are here. */
inline void tile_barrier(Tile &tile, const char *what) {
    Unwatched ours;
    Block &own = *block;
    count_ended(own);
    tile.meeting.arrived++;
    if (all_here(own, tile))
        release(own, tile.meeting);
    else
        suspend(own, tile.meeting, what);
}

inline void thread_ended(Block &own) {
    own.alive--;
    Warp &lanes = own.warps[self->rank / WARP];
    lanes.alive &= ~(1u << (self->rank % WARP));
    if (own.everybody.arrived && own.everybody.arrived == own.alive)
        close_block_barrier(own);
    for (Meeting &meeting : lanes.meetings)
        if (meeting.arrived &&
            meeting.arrived >= static_cast<unsigned>(__builtin_popcount(meeting.mask & lanes.alive)))
            release(own, meeting);
    for (Tile &tile : own.tiles)
        if (tile.meeting.arrived && all_here(own, tile))
            release(own, tile.meeting);
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
    std::vector<Place> places; /* a few: the kinds of waiting */
    for (const Fiber *fiber : own.all) {
        const Thread &thread = fiber->thread;
        if (!thread.waits_for)
            continue;
        size_t at = 0;
        while (at < places.size() && strcmp(places[at].what, thread.waits_for) != 0)
            at++;
        if (at == places.size())
            places.push_back({thread.waits_for, &thread, 0});
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
    idle = all;
    ready.clear();
    taken = 0;
    everybody.waiting.clear();
    everybody.arrived = 0;
    for (Fiber *fiber : all) {
        fiber->thread.waits_for = nullptr;
        fiber->leads = false;
    }
}

inline void Block::execute(const Shape &of, uint3 at, RunThreads threads_of, void *call_of,
                           Failure &failed) {
    shape = &of;
    failure = &failed;
    abandoned = false;
    index = at;
    run = threads_of;
    call = call_of;
    threads = alive = of.block.x * of.block.y * of.block.z;
    next = 0;
    quiet = true;
    votes[0] = votes[2] = 0;
    votes[1] = 1;
    if (dynamic.size() < of.shared_bytes + 16)
        dynamic.resize(of.shared_bytes + 16);
    warps.resize((threads + WARP - 1) / WARP);
    for (size_t w = 0; w < warps.size(); w++) {
        unsigned left = threads - static_cast<unsigned>(w) * WARP;
        warps[w].alive = left >= WARP ? ~0u : (1u << left) - 1;
        warps[w].meetings.clear();
    }
    for (Tile &tile : tiles) {
        tile.meeting.arrived = 0;
        tile.meeting.waiting.clear();
    }
    Block *outer = block;
    Thread *outer_self = self;
    const uint3 outer_thread = threadIdx, outer_index = blockIdx;
    const dim3 outer_block = blockDim, outer_grid = gridDim;
    block = this;
    blockIdx = at;
    blockDim = of.block;
    gridDim = of.grid;
    Unwatched ours;
    check_begins(*this);
    while (alive && !abandoned) {
        Fiber *fiber;
        if (next < threads) {
            fiber = fresh_fiber(*this);
            fiber->leads = true;
        } else if (taken < ready.size()) {
            fiber = ready[taken++];
            if (taken == ready.size()) {
                ready.clear();
                taken = 0;
            }
        } else {
            nobody_runs(*this);
            break;
        }
        current = fiber;
        self = &fiber->thread;
        cudla_sim_switch(&scheduler, fiber->saved);
        stop_watching();
        if (fiber->ended)
            idle.push_back(fiber);
    }
    check_ends(*this);
    if (abandoned)
        forget_threads();
    current = nullptr;
    block = outer;
    self = outer_self;
    threadIdx = outer_thread;
    blockIdx = outer_index;
    blockDim = outer_block;
    gridDim = outer_grid;
}

} // namespace cudla_sim

#endif
