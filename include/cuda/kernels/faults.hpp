/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/faults.hpp - a thread of a kernel that touches memory that is not there, divides by zero, traps or
 * fails an assertion: its launch ends with an error, as on a GPU, and the process goes on.
 */
#ifndef CUDLA_SIM_KERNELS_FAULTS_H
#define CUDLA_SIM_KERNELS_FAULTS_H

#include <dlfcn.h>
#include <link.h>

#include <signal.h>
#include <ucontext.h>

#include "engine.hpp"

namespace cudla_sim {

/* The running thread ends its block, whatever is on its stack. */
[[noreturn]] inline void abandon() {
    block->abandoned = true;
    leave();
    __builtin_unreachable();
}

/* The running thread fails its launch, at an instruction if that is known. */
[[noreturn]] inline void fail_launch(cudaError_t error, const char *what, uintptr_t at = 0) {
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

/* --- signals ---------------------------------------------------------------------------------- */

struct Signals {
    struct sigaction segment, bus, division;

    struct sigaction &before(int number) {
        return number == SIGSEGV ? segment : number == SIGBUS ? bus : division;
    }
    static Signals &get() {
        static Signals own;
        return own;
    }
};

/* Not ours: as if we were not there. */
inline void pass_on(int number, siginfo_t *info, void *context) {
    const struct sigaction &before = Signals::get().before(number);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        sigaction(number, &before, nullptr); /* it happens again, and kills */
    else
        before.sa_handler(number);
}

/* threadIdx of the thread whose registers these are. */
inline uint3 interrupted(const mcontext_t &machine) {
    uint3 found = threadIdx;
#if defined(CUDLA_SIM_THREAD_X) && defined(__x86_64__)
    found.x = static_cast<unsigned>(machine.gregs[REG_R15]);
#elif defined(CUDLA_SIM_THREAD_X)
    found.x = static_cast<unsigned>(machine.regs[28]);
#else
    (void)machine;
#endif
    return found;
}

inline void on_signal(int number, siginfo_t *info, void *context) {
    Block *own = block;
    if (!own || !own->failure || !own->current) {
        pass_on(number, info, context);
        return;
    }
    mcontext_t &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    uintptr_t at = static_cast<uintptr_t>(machine.gregs[REG_RIP]);
    uintptr_t stack = static_cast<uintptr_t>(machine.gregs[REG_RSP]);
#else
    uintptr_t at = machine.pc, stack = machine.sp;
#endif
    Failure &failure = *own->failure;
    if (failure.claim()) {
        uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
        uintptr_t bottom = reinterpret_cast<uintptr_t>(own->current->stack);
        if (number == SIGFPE) {
            failure.error = cudaErrorLaunchFailure;
            snprintf(failure.what, sizeof failure.what,
                     "an integer was divided by zero, which has no defined result on a GPU");
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
        failure.thread = interrupted(machine);
        failure.at = at;
    }
    /* goes on in abandon(), on the fiber's stack from its top: what is on it is not needed */
    uintptr_t top = reinterpret_cast<uintptr_t>(own->current->top()) & ~uintptr_t{15};
#if defined(__x86_64__)
    machine.gregs[REG_RSP] = static_cast<greg_t>(top - 72); /* as after a call */
    machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(&abandon);
#else
    machine.sp = top - 64;
    machine.pc = reinterpret_cast<uintptr_t>(&abandon);
#endif
}

inline void catch_signals() {
    static const bool once = [] {
        struct sigaction ours = {};
        ours.sa_sigaction = on_signal;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&ours.sa_mask);
        for (int number : {SIGSEGV, SIGBUS, SIGFPE})
            sigaction(number, &ours, &Signals::get().before(number));
        return true;
    }();
    (void)once;
}

/* Where signals of this system thread are handled: a fiber's stack may be full. */
class SignalStack {
  public:
    SignalStack() {
        stack_t now;
        if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE))
            return; /* it has one */
        own_.ss_size = 64 << 10;
        own_.ss_flags = 0;
        own_.ss_sp = malloc(own_.ss_size);
        if (own_.ss_sp && sigaltstack(&own_, nullptr) != 0) {
            free(own_.ss_sp);
            own_.ss_sp = nullptr;
        }
    }
    ~SignalStack() {
        if (!own_.ss_sp)
            return;
        stack_t none = {};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
        free(own_.ss_sp);
    }

  private:
    stack_t own_ = {};
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
    Dl_info module;
    if (!at || !dladdr(reinterpret_cast<void *>(at), &module) || !module.dli_fname)
        return found;
    const auto *header = static_cast<const ElfW(Ehdr) *>(module.dli_fbase);
    if (header->e_type == ET_DYN)
        at -= reinterpret_cast<uintptr_t>(module.dli_fbase);
    Vector<char> command;
    auto add = [&](const char *text) {
        for (; *text; text++)
            command.add(*text);
    };
    add("addr2line -i -e '");
    for (const char *letter = module.dli_fname; *letter; letter++) {
        if (*letter == '\'')
            add("'\\'");
        command.add(*letter);
    }
    char rest[64];
    snprintf(rest, sizeof rest, "' 0x%llx 2>/dev/null", static_cast<unsigned long long>(at));
    add(rest);
    command.add('\0');
    FILE *lines = popen(command.data(), "r");
    if (!lines)
        return found;
    SourceLine line;
    while (fgets(line.text, sizeof line.text, lines)) {
        line.text[strcspn(line.text, " \n")] = '\0';
        if (line.text[0] != '?' && !strstr(line.text, "/c++/"))
            found.add(line);
    }
    pclose(lines);
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

/* A device's assert: told as a GPU tells it, then the launch fails. In host code it is the host's. */
[[noreturn]] inline void assertion_failed(const char *what, const char *file, unsigned line,
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

#endif
