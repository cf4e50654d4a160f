/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/faults.hpp - a thread of a kernel that touches memory that is not there, traps or fails an
 * assertion: its launch ends with an error, as on a GPU, and the process goes on. One that divides by zero
 * goes on itself.
 */
#ifndef CUDLA_SIM_KERNELS_FAULTS_H
#define CUDLA_SIM_KERNELS_FAULTS_H

#include "builtins.hpp"
#include "division.hpp"
#include "engine.hpp"
#include "threads.hpp"

namespace cudla_sim {

[[noreturn]] CUDLA_SIM_ONCE void fail_launch(cudaError_t error, const char *what, uintptr_t at) {
    Failure &failure = *block->failure;
    if (failure.claim()) {
        failure.error = error;
        snprintf(failure.what, sizeof failure.what, "%s", what);
        failure.block = block->index;
        failure.thread = threadIdx;
        failure.at = at;
    }
    abandon();
}

/* --- signals: the library has them, whose headers would bring names of the system along ---------- */

/* The thread that ran into it. */
inline uint3 trapped([[maybe_unused]] const cudlaSimTrap &trap) {
    uint3 thread = threadIdx;
#if defined(CUDLA_SIM_THREAD_X)
    thread.x = trap.x;
#endif
    return thread;
}

/* What a GPU goes on with. */
inline void divide(cudlaSimTrap &trap, const Block &own, Division &first) {
    if (!trap.by_zero) { /* the largest negative number by -1 */
        trap.quotient = trap.dividend;
        trap.remainder = 0;
        return;
    }
    trap.quotient = trap.remainder = by_zero(trap.dividend, trap.bits);
    if (first.happened.exchange(1) == 0) {
        first.block = own.index;
        first.thread = trapped(trap);
        first.at = reinterpret_cast<uintptr_t>(trap.at);
    }
}

inline int on_trap(void *told) {
    auto *trap = static_cast<cudlaSimTrap *>(told);
    Block *own = block;
    if (!own || !own->failure || !own->current)
        return 0;
    Failure &failure = *own->failure;
    if (trap->division && trap->bits) {
        divide(*trap, *own, failure.division);
        return 2;
    }
    if (failure.claim()) {
        uintptr_t address = reinterpret_cast<uintptr_t>(trap->address);
        uintptr_t bottom = reinterpret_cast<uintptr_t>(own->current->stack);
        uintptr_t stack = reinterpret_cast<uintptr_t>(trap->stack);
        if (trap->division) {
            failure.error = cudaErrorLaunchFailure;
            snprintf(failure.what, sizeof failure.what,
                     "an integer was divided by zero, by an instruction that is not known here");
        } else if (address < bottom && bottom - address <= STACK_GUARD && stack < bottom + STACK_ROOM) {
            failure.error = cudaErrorLaunchFailure;
            snprintf(failure.what, sizeof failure.what, "the stack of a thread, %zu KiB, is full",
                     STACK_BYTES >> 10);
        } else {
            failure.error = cudaErrorIllegalAddress;
            snprintf(failure.what, sizeof failure.what, "access to address 0x%llx, where there is no memory",
                     static_cast<unsigned long long>(address));
        }
        failure.block = own->index;
        failure.thread = trapped(*trap);
        failure.at = reinterpret_cast<uintptr_t>(trap->at);
    }
    /* goes on in abandon(), on the fiber's stack from its top: what is on it is not needed */
    uintptr_t top = reinterpret_cast<uintptr_t>(own->current->top()) & ~uintptr_t{15};
#if defined(__x86_64__)
    trap->go_on_stack = reinterpret_cast<void *>(top - 72); /* as after a call */
#else
    trap->go_on_stack = reinterpret_cast<void *>(top - 64);
#endif
    trap->go_on = reinterpret_cast<void *>(&abandon);
    return 1;
}

inline void catch_signals() {
    static const bool once = (__cudlaSimCatch(on_trap), true);
    (void)once;
}

/* Where signals of this system thread are handled. */
class SignalStack {
  public:
    SignalStack() : own_(__cudlaSimSignalStack(nullptr)) {}
    ~SignalStack() {
        if (own_)
            __cudlaSimSignalStack(own_);
    }
    SignalStack(const SignalStack &) = delete;

  private:
    void *own_;
};

/* --- what is told ----------------------------------------------------------------------------- */

/* "file:line". */
struct SourceLine {
    char text[1024];
    bool in_engine() const { return strstr(text, "/cuda/kernels/") != nullptr; }
};

/* Those of an instruction by its debug information, from the innermost inlined function outwards; none where there
 * is no such information, or no binutils. */
inline Vector<SourceLine> lines_of(uintptr_t at) {
    Vector<SourceLine> found;
    char text[8192];
    if (!at || !__cudlaSimLines(reinterpret_cast<const void *>(at), text, sizeof text))
        return found;
    for (const char *from = text; *from;) {
        SourceLine line;
        size_t size = strcspn(from, "\n");
        snprintf(line.text, sizeof line.text, "%.*s", static_cast<int>(size), from);
        found.add(line);
        from += size + (from[size] == '\n');
    }
    return found;
}

/* The line of the program, whatever it calls. */
inline SourceLine line_of(uintptr_t at) {
    for (const SourceLine &line : lines_of(at))
        if (!line.in_engine())
            return line;
    return SourceLine{};
}

/* Whether the instruction is one of these headers'. */
inline bool is_engine(uintptr_t at) {
    Vector<SourceLine> lines = lines_of(at);
    return !lines.empty() && lines.front().in_engine();
}

struct Said {
    char text[1600];
};

/* Tells one line; what it was, without the program's name. */
inline Said say(const Failure &failure, const char *kernel) {
    Said said;
    SourceLine line = line_of(failure.at);
    snprintf(said.text, sizeof said.text, "kernel %.100s, block (%u, %u, %u), thread (%u, %u, %u)%s%s: %s", kernel,
             failure.block.x, failure.block.y, failure.block.z, failure.thread.x, failure.thread.y,
             failure.thread.z, line.text[0] ? ", " : "", line.text, failure.what);
    fprintf(stderr, "cudla-sim: %s\n", said.text);
    fflush(stderr);
    return said;
}

/* Ruins the context with it. */
inline void tell(const Failure &failure, const char *kernel) {
    __cudlaSimFault(failure.error, say(failure, kernel).text);
}

/* A place in the program is told once. */
inline void tell(const Division &division, const char *kernel) {
    static Mutex lock;
    static Vector<uintptr_t> places;
    {
        Held held(lock);
        for (uintptr_t place : places)
            if (place == division.at)
                return;
        places.add(division.at);
    }
    Failure told;
    told.block = division.block;
    told.thread = division.thread;
    told.at = division.at;
    snprintf(told.what, sizeof told.what,
             "an integer was divided by zero: the result has all bits, as on a GPU, which tells nobody");
    say(told, kernel);
}

[[noreturn]] CUDLA_SIM_ONCE void assertion_failed(const char *what, const char *file, unsigned line,
                                                  const char *function) {
    if (!block)
        (__assert_fail)(what, file, line, function);
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
            function, block->index.x, block->index.y, block->index.z, unsigned(threadIdx.x),
            unsigned(threadIdx.y), unsigned(threadIdx.z), what);
    fflush(stderr);
    char text[sizeof Failure::what];
    snprintf(text, sizeof text, "assertion `%s` failed at %s:%u", what, file, line);
    fail_launch(cudaErrorAssert, text);
}

} // namespace cudla_sim

/* The same by the name of a GPU's own call (PTX ISA's ABI, "System Calls"): programs declare it themselves. */
extern "C" [[noreturn]] void cudla_sim_assertfail(const void *, const void *, unsigned, const void *, size_t)
    __asm__("__assertfail");
extern "C" __attribute__((weak, used)) void cudla_sim_assertfail(const void *what, const void *file, unsigned line,
                                                                 const void *function, size_t) {
    cudla_sim::assertion_failed(static_cast<const char *>(what), static_cast<const char *>(file), line,
                                static_cast<const char *>(function));
}

#endif
