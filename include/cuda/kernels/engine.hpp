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

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../crt/launches.h"
#include "containers.hpp"
#include "failure.hpp"
#include "indices.hpp"
#include "once.hpp"
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

/* The running thread ends its block, whatever is on its stack. */
[[noreturn]] inline void abandon() {
    block->abandoned = true;
    leave();
    __builtin_unreachable();
}

/* --- what blocks.hpp and faults.hpp have ---------------------------------------------------------------- */

/* The running thread fails its launch, at an instruction if that is known. */
[[noreturn]] CUDLA_SIM_ONCE void fail_launch(cudaError_t error, const char *what, uintptr_t at = 0);
/* A device's assert: told as a GPU tells it, then the launch fails. In host code it is the host's. */
[[noreturn]] CUDLA_SIM_ONCE void assertion_failed(const char *what, const char *file, unsigned line,
                                                  const char *function);
/* Whoever goes on when nobody is ready: lanes that have been waited for, or the threads that have not begun. */
CUDLA_SIM_ONCE Fiber *another_fiber(Block &own);
CUDLA_SIM_ONCE void count_all_ended(Block &own);
CUDLA_SIM_ONCE void thread_ended(Block &own);
/* The running thread ends here; nobody comes back to what is on its stack. */
[[noreturn]] CUDLA_SIM_ONCE void exit_thread();
/* The lanes that have come have been waited for long enough, at the place whose turn it is. */
CUDLA_SIM_ONCE void close_first_gathering(Block &own);
/* The lanes of a warp that are here: lanes do not run in step, so a lane waits for the others of its warp as long
 * as anyone in the block can go on. */
CUDLA_SIM_ONCE unsigned gather(unsigned place, const char *what);
/* The tile of so many threads that the running one is in. */
CUDLA_SIM_ONCE Tile &tile_of(unsigned size);

/* -------------------------------------------------------------------------------------------------------- */

/* The fiber that goes on now; none where somebody has to look at the whole block. */
inline Fiber *next_fiber(Block &own) {
    if (own.next >= own.threads)
        if (Fiber *fiber = own.ready.take())
            return fiber;
    return another_fiber(own);
}

inline void run_fiber(Block &own, Fiber *from, Fiber *to) {
    own.current = to;
    self = &to->thread;
    cudla_sim_switch(&from->saved, to->saved);
}

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

/* Before the first thread waits: those before it have ended, and nobody counted them. */
inline void count_ended(Block &own) {
    if (own.quiet == Quiet::YES)
        count_all_ended(own);
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
            close_first_gathering(own);
    }
}

inline bool all_here(const Block &own, const Tile &tile) {
    unsigned alive = 0;
    for (unsigned w = tile.first / WARP; w < (tile.first + tile.size) / WARP && w < own.warps.size(); w++)
        alive += count_bits(own.warps[w].alive);
    return tile.meeting.arrived >= alive;
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

} // namespace cudla_sim

#endif
