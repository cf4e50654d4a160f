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

#include "../crt/launches.h"
#include "containers.hpp"
#include "failure.hpp"
#include "indices.hpp"
#include "switch.hpp"
#include "watching.hpp"

namespace cudla_sim {

struct Block;
struct Fiber;

constexpr unsigned WARP = 32;
constexpr size_t SLOT_BYTES = 32; /* of a value that lanes exchange */

/* The compiler's own is a call into a library where the processor need not have an instruction for it. */
inline unsigned count_bits(unsigned x) {
#if defined(__POPCNT__) || !defined(__x86_64__)
    return static_cast<unsigned>(__builtin_popcount(x));
#else
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
#endif
}

struct Thread {
    uint3 index{0, 0, 0};
    unsigned rank = 0; /* of one that waits */
    unsigned gathered = 0; /* the lanes that were there when it asked */
    const char *waits_for = nullptr;
};

/* A thread that waits, or the one that runs; it lies on top of its own stack. */
struct alignas(64) Fiber {
    char *stack = nullptr;
    void *saved = nullptr;
    Fiber *next = nullptr; /* in the one line that it is in */
    Thread thread;
    bool leads = false; /* goes on with the threads that have not begun */
    bool ended = false;

    char *top() { return reinterpret_cast<char *>(this); }
};

/* Fibers in their order. */
struct Line {
    Fiber *first = nullptr, *last = nullptr;

    void add(Fiber *fiber) {
        fiber->next = nullptr;
        (first ? last->next : first) = fiber;
        last = fiber;
    }
    void add_all(Line &other) {
        if (!other.first)
            return;
        (first ? last->next : first) = other.first;
        last = other.last;
        other.first = nullptr;
    }
    void push(Fiber *fiber) { /* in front */
        fiber->next = first;
        if (!first)
            last = fiber;
        first = fiber;
    }
    Fiber *take() {
        Fiber *fiber = first;
        if (fiber)
            first = fiber->next;
        return fiber;
    }
};

/* One waiting place: threads of a block, of a warp, or of some of its lanes. */
struct Meeting {
    unsigned arrived = 0;
    Line waiting;
};

/* What lanes gave each other at a meeting, and which of them there were. */
struct Met {
    unsigned alive = 0;
    alignas(16) char slots[WARP][SLOT_BYTES];
};

/* Lanes of one mask. Values are kept apart from those of the meeting before, which some may still read. */
struct LanesMeeting : Meeting {
    unsigned mask = 0;
    unsigned round = 0;
    Met met[2];
};

constexpr size_t STACK_BYTES = 256 << 10;
/* Below it: without access. With it stacks are an odd number of pages apart: an even one would leave the processor
 * with a part of its table of pages for the tops of all of them. */
constexpr size_t STACK_GUARD = 68 << 10;
/* Stacks begin at different places of a page, and of what a cache takes for one place: threads of a block would
 * push each other out of it at every switch otherwise. */
constexpr size_t STACK_SPREAD = 64 << 10, STACK_STEP = 5 * 64;
constexpr size_t STACK_ROOM = STACK_BYTES + STACK_SPREAD;

struct Warp {
    Stable<LanesMeeting> meetings; /* `used` of them */
    unsigned used = 0;
    unsigned alive = 0; /* lanes that have not ended */
    unsigned turns = 0; /* of loops in which they may wait for what others store */
};

/* A tile of more threads than a warp has: their ranks are in a row. */
struct Tile {
    unsigned first = 0, size = 0;
    Meeting meeting;
    Vector<char> slots; /* a value of each */
};

/* A barrier with a number (PTX ISA, "bar"): for so many threads, or where that is 0 for all that have not ended. */
struct Numbered : Meeting {
    unsigned expected = 0;
};
constexpr unsigned NUMBERED = 16;
/* Dynamic shared memory begins at a multiple of it: kernels that fold its addresses count on that. */
constexpr uintptr_t DYNAMIC_ALIGN = 1024;

/* Lanes that ask, at one place of the program, who is there; see gather(). */
struct Gathering {
    unsigned place = 0, warp = 0, mask = 0;
    Line waiting;
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

/* Whether nobody has waited in a block; of a type that what kernels compute with does not alias. */
enum class Quiet : unsigned char { NO, YES };

struct Block {
    const Shape *shape = nullptr;
    uint3 index{0, 0, 0};
    RunThreads run = nullptr;
    void *call = nullptr;
    unsigned threads = 0, next = 0, alive = 0;
    uint3 next_index{0, 0, 0};
    uint64_t blocks_left = 0; /* which the same system thread runs behind it */
    Quiet quiet = Quiet::YES;
    Fiber *current = nullptr;
    void *scheduler = nullptr; /* its saved stack pointer */
    Line ready, idle;
    Vector<Fiber *> all;
    Meeting everybody;
    Vector<Warp> warps;
    Stable<Tile> tiles; /* those that have met */
    Vector<Gathering> gatherings;
    unsigned went_on = 0, times = 0; /* the place where lanes went on last, and how often without another */
    Vector<Numbered> numbered; /* none before somebody has met there */
    unsigned votes[3] = {0, 0, 0}; /* count, and, or of a barrier that votes */
    unsigned last_votes[3] = {0, 0, 0};
    Vector<char> dynamic;
    Failure *failure = nullptr;
    bool abandoned = false; /* a thread failed: no other goes on */
    bool together = false, whole = false; /* one call runs all threads, and has run them (lanes.hpp) */
    Stable<Vector<char>> rooms; /* for what threads keep meanwhile; `rooms_taken` of them */
    unsigned rooms_taken = 0;
#if defined(CUDLA_SIM_CHECKS)
    struct Race *race = nullptr; /* check_race.hpp; as long as the process, as blocks are */
#endif

    ~Block();
    /* Where dynamic shared memory begins. */
    uintptr_t dynamic_start() const {
        return (reinterpret_cast<uintptr_t>(dynamic.data()) + DYNAMIC_ALIGN - 1) & ~(DYNAMIC_ALIGN - 1);
    }
    void forget_threads();
    void begin();
    bool begin_next();
    void execute(const Shape &of, uint3 at, uint64_t count, RunThreads threads_of, void *call_of, Failure &failed);
};

inline thread_local Block *block = nullptr;
inline thread_local Thread *self = nullptr;

/* The running thread's number in its block. */
inline unsigned rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

[[noreturn]] inline void fail(const char *format, const char *kernel, const char *what) {
    fprintf(stderr, format, kernel, what);
    fflush(stderr);
    abort();
}

/* Out of the fiber that runs, back to who schedules. */
inline void leave() { cudla_sim_switch(&block->current->saved, block->scheduler); }

/* The fiber that goes on now; none where somebody has to look at the whole block. */
Fiber *next_fiber(Block &own);

inline void run_fiber(Block &own, Fiber *from, Fiber *to) {
    own.current = to;
    self = &to->thread;
    cudla_sim_switch(&from->saved, to->saved);
}

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

inline Fiber *next_fiber(Block &own) {
    if (own.next >= own.threads) {
        Fiber *fiber = own.ready.take();
        if (!fiber && !own.gatherings.empty()) {
            close_gathering(own, first_gathering(own));
            fiber = own.ready.take();
        }
        return fiber;
    }
    Fiber *fiber = fresh_fiber(own);
    fiber->leads = true;
    return fiber;
}

inline Block::~Block() {
    for (Fiber *fiber : all)
        munmap(fiber->stack - STACK_GUARD, STACK_ROOM + STACK_GUARD);
}

inline void thread_ended(Block &);

/* The threads of a block as a loop, on the stack of whoever leads. `one` runs a thread; who waits keeps what the
 * thread is (suspend). */
template <class One> inline void each_thread(Block &own, One &&one) {
    Fiber *fiber = own.current;
    const dim3 size = own.shape->block;
    uint3 at = own.next_index;
    for (; at.z < size.z; at.z++, at.y = 0) {
        for (; at.y < size.y; at.y++, at.x = 0) {
            ::threadIdx.set(at);
            if (own.quiet == Quiet::YES) { /* the loop that compilers make fast: nothing in it changes what is tested */
                unsigned x = at.x;
                for (; x < size.x; x++) {
                    ::threadIdx.x.set(x);
                    one();
                    if (__builtin_expect(own.quiet == Quiet::NO, 0))
                        break;
                }
                at.x = x;
                if (x == size.x)
                    continue;
                if (own.whole) {
                    own.whole = false;
                    own.quiet = Quiet::YES;
                    own.next = own.threads;
                    own.alive = 0;
                    return;
                }
                thread_ended(own);
                if (!fiber->leads)
                    return; /* it has waited: another leads now */
                ::threadIdx.set(at);
                at.x++;
            }
            for (; at.x < size.x; at.x++) {
                ::threadIdx.x.set(at.x);
                one();
                thread_ended(own);
                if (!fiber->leads)
                    return;
                ::threadIdx.set(at);
            }
        }
    }
    own.next = own.threads;
    if (own.quiet == Quiet::YES)
        own.alive = 0;
}

[[noreturn]] inline void fail_launch(cudaError_t error, const char *what, uintptr_t at = 0);

/* Before the first thread waits: those before it have ended, and nobody counted them. */
inline void count_ended(Block &own) {
    if (own.quiet == Quiet::NO)
        return;
    if (own.together) /* the rewriter saw nothing that waits (cuda_kernels/regions/waiting.py) */
        fail_launch(cudaErrorLaunchFailure, "a function that it calls waits for other threads, which its text does "
                                            "not tell; compile it with CUDLA_SIM_CUDA_BARRIERS=threads");
    own.quiet = Quiet::NO;
    unsigned first = rank();
    own.alive = own.threads - first;
    for (unsigned w = 0; w <= first / WARP; w++)
        own.warps[w].alive = w < first / WARP ? 0 : own.warps[w].alive & ~((1u << first % WARP) - 1);
}

inline void release(Block &own, Meeting &meeting) {
    if (&meeting != &own.everybody)
        check_met(own, meeting.waiting);
    own.ready.add_all(meeting.waiting);
    meeting.arrived = 0;
}

inline void release_lanes(Block &own, Warp &lanes, LanesMeeting &meeting) {
    meeting.met[meeting.round++ % 2].alive = lanes.alive;
    release(own, meeting);
}

/* The index of the thread that follows. */
inline uint3 behind(uint3 at, const dim3 &size) {
    if (++at.x == size.x) {
        at.x = 0;
        if (++at.y == size.y) {
            at.y = 0;
            at.z++;
        }
    }
    return at;
}

/* What a fiber keeps is out of the nearest cache when its turn comes; it is asked for one turn before. */
inline void coming(const Fiber *next) {
    const Fiber *soon = next->next;
    if (!soon)
        return;
    const char *kept = static_cast<const char *>(soon->saved);
    __builtin_prefetch(kept);
    __builtin_prefetch(kept + 64);
    __builtin_prefetch(kept + 128);
    __builtin_prefetch(soon->next);
}

inline void suspend(Block &own, Line &waiting, const char *what) {
    Fiber *fiber = own.current;
    if (fiber->leads) { /* the first time that this thread waits */
        fiber->thread.index = threadIdx;
        fiber->thread.rank = rank();
        own.next = fiber->thread.rank + 1;
        own.next_index = behind(threadIdx, own.shape->block);
        fiber->leads = false;
    }
    fiber->thread.waits_for = what;
    waiting.add(fiber);
    if (Fiber *next = next_fiber(own)) {
        if (next != fiber) { /* else it was waited for in vain, and goes on itself */
            coming(next);
            run_fiber(own, fiber, next);
        }
    } else {
        leave();
    }
    ::threadIdx.set(fiber->thread.index);
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
        suspend(own, own.everybody.waiting, what);
}

inline unsigned lane() { return rank() % WARP; }
inline Warp &warp() { return block->warps[rank() / WARP]; }

inline LanesMeeting &meeting_of(Warp &own, unsigned mask) {
    for (unsigned i = 0; i < own.used; i++)
        if (own.meetings[i].mask == mask)
            return own.meetings[i];
    if (own.used == own.meetings.size())
        own.meetings.add();
    LanesMeeting &made = own.meetings[own.used++];
    made.mask = mask;
    made.arrived = 0;
    made.waiting = Line();
    return made;
}

/* Waits until all lanes of the mask that have not ended are here. */
inline void meet_lanes(Block &own, Warp &lanes, LanesMeeting &meeting, const char *what) {
    count_ended(own);
    meeting.arrived++;
    if (meeting.arrived >= count_bits(meeting.mask & lanes.alive))
        release_lanes(own, lanes, meeting);
    else
        suspend(own, meeting.waiting, what);
}

inline void lanes_barrier(unsigned mask, const char *what) {
    Unwatched ours;
    Warp &lanes = warp();
    meet_lanes(*block, lanes, meeting_of(lanes, mask), what);
}

/* The lanes of a warp that are here: lanes do not run in step, so a lane waits for the others of its warp as long
 * as anyone in the block can go on. */
__attribute__((noinline)) inline unsigned gather(unsigned place, const char *what) {
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

/* Lanes of a warp go on together from here; `place` is that in the source (steps.py). */
inline void in_step(unsigned place) {
    if (block)
        gather(place, "step with its warp");
}

/* The same where a loop begins again: it may wait for lanes that wait for others themselves. */
inline void in_loop(unsigned place) {
    constexpr unsigned PATIENCE = 256 * WARP;
    if (!block)
        return;
    gather(place, "loop with its warp");
    Unwatched ours;
    Block &own = *block;
    if (++warp().turns >= PATIENCE) {
        warp().turns = 0;
        if (!own.gatherings.empty())
            close_gathering(own, first_gathering(own));
    }
}

inline bool all_here(const Block &own, const Tile &tile) {
    unsigned alive = 0;
    for (unsigned w = tile.first / WARP; w < (tile.first + tile.size) / WARP && w < own.warps.size(); w++)
        alive += count_bits(own.warps[w].alive);
    return tile.meeting.arrived >= alive;
}

/* The tile of so many threads that the running one is in. */
inline Tile &tile_of(unsigned size) {
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

/* Waits until all threads of the tile that have not ended are here. */
inline void tile_barrier(Tile &tile, const char *what) {
    Unwatched ours;
    Block &own = *block;
    count_ended(own);
    tile.meeting.arrived++;
    if (all_here(own, tile))
        release(own, tile.meeting);
    else
        suspend(own, tile.meeting.waiting, what);
}

inline void thread_ended(Block &own) {
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

/* The running thread ends here; nobody comes back to what is on its stack. */
[[noreturn]] inline void exit_thread() {
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
