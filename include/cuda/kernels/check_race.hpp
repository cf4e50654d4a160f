/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/check_race.hpp - two threads of a block at one place of shared memory, one of which writes, and
 * nothing orders them: no barrier of the block, no meeting of lanes or of a tile, no chain of atomics.
 *
 * Each thread has a clock, which goes on whenever it meets others, and for each other thread the time up to
 * which it knows it (vector clocks; "FastTrack", Flanagan and Freund, 2009, whose cells for the last write and
 * the last reads these are). After a barrier of the block everyone knows everything: one time a thread, `all`.
 * It does not matter in which order the threads ran here. A write of what is there already is no race: many
 * programs let several threads store one flag.
 */
#ifndef CUDLA_SIM_KERNELS_CHECK_RACE_H
#define CUDLA_SIM_KERNELS_CHECK_RACE_H

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "check_memory.hpp"

namespace cudla_sim {

/* The access of a thread to a byte. */
struct Touch {
    uintptr_t pc = 0;
    unsigned clock = 0; /* 0: nobody yet */
    unsigned short thread = 0;
    bool atomic = false;
};

struct Cell {
    Touch write, reads[2];
};

typedef std::vector<unsigned> Times;

struct Race {
    Times clock, all;
    std::vector<Times> seen;                    /* by thread; empty: `all` is what it knows */
    std::unordered_map<uintptr_t, Times> atoms; /* what atomics on a place have told */
    std::vector<Cell> own, dynamic;

    struct {
        uintptr_t at = 0;
        size_t size = 0;
        unsigned char before[16];
        Touch first, second;
        unsigned offset = 0;
        bool dynamic = false;
    } pending; /* a write over a write, before it is made */

    void begin(unsigned threads) {
        if (clock.size() < threads) {
            clock.resize(threads, 0);
            all.resize(threads, 0);
            seen.resize(threads);
        }
        for (Times &times : seen)
            times.clear();
        atoms.clear();
        everybody();
    }

    void everybody() {
        for (size_t i = 0; i < clock.size(); i++)
            all[i] = clock[i]++;
    }

    unsigned knows(unsigned thread, unsigned of) const {
        const Times &times = seen[thread];
        return times.empty() ? all[of] : std::max(times[of], all[of]);
    }

    bool ordered(const Touch &before, unsigned thread) const {
        return before.thread == thread || before.clock <= knows(thread, before.thread);
    }

    static void join(Times &to, const Times &from) {
        if (to.size() < from.size())
            to.resize(from.size(), 0);
        for (size_t i = 0; i < from.size(); i++)
            to[i] = std::max(to[i], from[i]);
    }

    void tell_into(Times &to, unsigned thread) const {
        join(to, seen[thread]);
        if (to.size() < clock.size())
            to.resize(clock.size(), 0);
        to[thread] = clock[thread];
    }
    /* Knows what those before it at this place knew, and tells it; its clock goes on afterwards. */
    void meet_at(uintptr_t place, unsigned thread) {
        Times &known = atoms[place];
        join(seen[thread], known);
        tell_into(known, thread);
        clock[thread]++;
    }
};

inline Race &race_of(Block &own) {
    if (!own.race)
        own.race = new Race;
    return *own.race;
}

inline uint3 index_of(const Block &own, unsigned rank) {
    const dim3 &size = own.shape->block;
    return uint3{rank % size.x, rank / size.x % size.y, rank / (size.x * size.y)};
}

/* Each pair of instructions is told once. */
inline bool first_of(uintptr_t one, uintptr_t other) {
    static std::mutex lock;
    static auto *told = new std::set<std::pair<uintptr_t, uintptr_t>>;
    std::lock_guard<std::mutex> held(lock);
    return told->emplace(one, other).second;
}

/* True where the thread that did it has to end. */
inline bool tell_race(Block &own, bool wrote, const char *does, const Touch &first, const Touch &second,
                      unsigned offset, bool dynamic, bool ends) {
    if (!first_of(first.pc, second.pc))
        return false;
    uint3 other = index_of(own, first.thread);
    SourceLine line = line_of(first.pc);
    Failure told;
    told.block = own.index;
    told.thread = index_of(own, second.thread);
    told.at = second.pc;
    snprintf(told.what, sizeof told.what,
             "race in %s shared memory, byte %u: it %s, thread (%u, %u, %u) %s%s%.160s, and nothing orders them",
             dynamic ? "dynamic" : "static", offset, does, other.x, other.y, other.z, wrote ? "wrote" : "read",
             line.text[0] ? " at " : "", line.text);
    if (!ends) {
        say(told, own.shape->kernel);
    } else if (own.failure->claim()) {
        Failure &failure = *own.failure;
        failure.error = cudaErrorLaunchFailure;
        memcpy(failure.what, told.what, sizeof failure.what);
        failure.block = told.block;
        failure.thread = told.thread;
        failure.at = told.at;
    }
    return ends;
}

/* A write over another one was made meanwhile: the same value is no race. True as above. */
inline bool settle_write(Block &own, bool ends) {
    auto &pending = race_of(own).pending;
    size_t size = pending.size;
    pending.size = 0;
    return size && memcmp(reinterpret_cast<const void *>(pending.at), pending.before, size) != 0 &&
           tell_race(own, true, "writes", pending.first, pending.second, pending.offset, pending.dynamic, ends);
}

enum class How { READ, WRITE, ATOMIC };

inline void check_race(uintptr_t at, size_t size, How how, uintptr_t pc, bool ends) {
    Block &own = *block;
    Race &race = race_of(own);
    bool over = settle_write(own, ends);
    const Range &fixed = Known::get().own;
    uintptr_t start = own.dynamic_start();
    bool dynamic = at >= start && at - start + size <= own.shape->shared_bytes;
    if (over)
        abandon();
    if (!dynamic && (!fixed.holds(at, size) || inside(&own, at)))
        return;
    std::vector<Cell> &cells = dynamic ? race.dynamic : race.own;
    size_t wanted = dynamic ? own.shape->shared_bytes : fixed.end - fixed.begin;
    if (cells.size() < wanted)
        cells.resize(wanted);
    unsigned offset = static_cast<unsigned>(at - (dynamic ? start : fixed.begin));
    unsigned thread = rank();
    if (how == How::ATOMIC) { /* knows what those before it on this place knew, and tells it */
        Times &place = race.atoms[at];
        Race::join(race.seen[thread], place);
        race.tell_into(place, thread);
    }
    Touch mine{pc, race.clock[thread], static_cast<unsigned short>(thread), how == How::ATOMIC};
    bool said = false;
    for (size_t i = offset; i < offset + size; i++) {
        Cell &cell = cells[i];
        if (how == How::READ) {
            if (!said && !race.ordered(cell.write, thread)) {
                said = true;
                over |= tell_race(own, true, "reads", cell.write, mine, offset, dynamic, ends);
            }
            /* two readers are kept, of which one is not the next writer */
            bool second = cell.reads[0].thread != thread && !race.ordered(cell.reads[0], thread);
            cell.reads[second] = mine;
            continue;
        }
        if (!said && !(mine.atomic && cell.write.atomic) && !race.ordered(cell.write, thread)) {
            said = true;
            if (mine.atomic || cell.write.atomic) {
                over |= tell_race(own, true, "writes", cell.write, mine, offset, dynamic, ends);
            } else {
                race.pending.at = at;
                race.pending.size = std::min(size, sizeof race.pending.before);
                memcpy(race.pending.before, reinterpret_cast<const void *>(at), race.pending.size);
                race.pending.first = cell.write;
                race.pending.second = mine;
                race.pending.offset = offset;
                race.pending.dynamic = dynamic;
            }
        }
        for (const Touch &read : cell.reads)
            if (!said && !race.ordered(read, thread)) {
                said = true;
                over |= tell_race(own, false, "writes", read, mine, offset, dynamic, ends);
            }
        cell.write = mine;
    }
    if (how == How::ATOMIC)
        race.clock[thread]++;
    if (over)
        abandon();
}

} // namespace cudla_sim

#endif
