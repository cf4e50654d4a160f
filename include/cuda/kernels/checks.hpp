/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/checks.hpp - the checks of kernels: what the compiler calls at each access to memory.
 *
 * CUDLA_SIM_CHECKS has two bits a check (off, warn, fault), in the order of cudart/checks.py. With it kernels are
 * compiled with -fsanitize=thread, which puts these calls in; the library that usually answers them is not
 * linked. Nothing of them can be instrumented itself.
 */
#ifndef CUDLA_SIM_KERNELS_CHECKS_H
#define CUDLA_SIM_KERNELS_CHECKS_H

#if defined(CUDLA_SIM_CHECKS)
#include "check_race.hpp"
#endif

namespace cudla_sim {

constexpr unsigned MEMORY_SHIFT = 2, RACE_SHIFT = 4, FAULT = 2;

#if defined(CUDLA_SIM_CHECKS)

/* As the program was compiled, or as the setting says where it runs. */
inline unsigned check_word() {
    static const unsigned word = [] {
        unsigned now = __cudlaSimChecks();
        return now >> MEMORY_SHIFT ? now : static_cast<unsigned>(CUDLA_SIM_CHECKS);
    }();
    return word;
}
inline unsigned check_mode(unsigned shift) { return check_word() >> shift & 3; }

/* Counts launches: what is known of memory is known for one. */
inline std::atomic<unsigned> &launch_number() {
    static std::atomic<unsigned> number{0};
    return number;
}

inline void check_launch() {
    check_word();
    launch_number()++;
}

inline void check_begins(Block &own) {
    Known &known = Known::get();
    unsigned now = launch_number();
    if (known.launch != now)
        known.look(now);
    if (check_mode(RACE_SHIFT))
        race_of(own).begin(own.threads);
}

inline void check_ends(Block &own) {
    if (check_mode(RACE_SHIFT) && !own.abandoned)
        settle_write(own, check_mode(RACE_SHIFT) == FAULT);
}

inline void check_all_met(Block &own) {
    if (check_mode(RACE_SHIFT))
        race_of(own).everybody();
}

inline void check_met(Block &own, const Line &waiting) {
    if (!check_mode(RACE_SHIFT) || !waiting.first)
        return;
    Race &race = race_of(own);
    Times known;
    race.tell_into(known, rank());
    for (const Fiber *fiber = waiting.first; fiber; fiber = fiber->next)
        race.tell_into(known, fiber->thread.rank);
    auto learn = [&](unsigned thread) {
        race.seen[thread] = known;
        race.clock[thread]++;
    };
    learn(rank());
    for (const Fiber *fiber = waiting.first; fiber; fiber = fiber->next)
        learn(fiber->thread.rank);
}

CUDLA_SIM_NOT_SEEN __attribute__((noinline)) inline void check_one(const void *at, size_t size, How how,
                                                                   bool aligned, void *pc) {
    watching = false;
    uintptr_t address = reinterpret_cast<uintptr_t>(at);
    uintptr_t instruction = reinterpret_cast<uintptr_t>(pc) - 1; /* of the call, not behind it */
    unsigned memory = check_mode(MEMORY_SHIFT), race = check_mode(RACE_SHIFT);
    if (memory)
        check_memory(address, size, how != How::READ, aligned, instruction, memory == FAULT);
    if (race)
        check_race(address, size, how, instruction, race == FAULT);
    watching = true;
}

CUDLA_SIM_NOT_SEEN __attribute__((noinline)) inline void check_access(const void *at, size_t size, bool write) {
    if (watching && size)
        check_one(at, size, write ? How::WRITE : How::READ, false, __builtin_return_address(0));
}

inline void check_order(const void *place) {
    Unwatched ours;
    if (check_mode(RACE_SHIFT))
        race_of(*block).meet_at(reinterpret_cast<uintptr_t>(place), rank());
}

#else

/* A check that was asked for too late would find nothing. */
inline void check_launch() {
    static const bool asked = __cudlaSimChecks() >> MEMORY_SHIFT != 0;
    static std::atomic<bool> told{false};
    if (asked && !told.exchange(true))
        fprintf(stderr, "cudla-sim: kernels of this program are not checked: nvcc compiles them for "
                        "CUDLA_SIM_CUDA_CHECKS=memory or race when that is set for it\n");
}

#endif

} // namespace cudla_sim

#if defined(CUDLA_SIM_CHECKS)
#include "check_hooks.hpp"
#endif

#endif
