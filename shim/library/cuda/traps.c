/* Signals of kernels: the engine, which is compiled into programs, gets them without the system's
 * headers. */
#define _GNU_SOURCE /* the registers' names */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include "boot.h"
#include "cuda/cuda_runtime_api.h"
#include "cuda/crt/launches.h"
#include "generated/hand_written.h"

enum { STACK_SIZE = 64 << 10 };

static int (*taken)(struct cudlaSimTrap *trap);
static struct sigaction before_segment, before_bus, before_division;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct sigaction *before(int number)
{
    return number == SIGSEGV ? &before_segment : number == SIGBUS ? &before_bus : &before_division;
}

/* Not a kernel's signal: as if this handler were not installed. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = before(number);
    if ((old->sa_flags & SA_SIGINFO) != 0) {
        old->sa_sigaction(number, info, context);
    } else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
        sigaction(number, old, NULL); /* it happens again, and kills */
    } else {
        old->sa_handler(number);
    }
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    struct cudlaSimTrap trap = {.division = number == SIGFPE, .address = info->si_addr};
#if defined(__x86_64__)
    trap.stack = (void *)machine->gregs[REG_RSP];
#elif defined(__aarch64__)
    trap.stack = (void *)machine->sp;
#endif
    if (!taken(&trap)) {
        pass_on(number, info, context);
        return;
    }
#if defined(__x86_64__)
    machine->gregs[REG_RIP] = (greg_t)trap.go_on;
    machine->gregs[REG_RSP] = (greg_t)trap.go_on_stack;
#elif defined(__aarch64__)
    machine->pc = (uintptr_t)trap.go_on;
    machine->sp = (uintptr_t)trap.go_on_stack;
#endif
}

SIM_EXPORT void sim____cudlaSimCatch(int (*take)(struct cudlaSimTrap *trap))
{
    const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE};
    pthread_mutex_lock(&lock);
    if (taken == NULL && take != NULL) {
        struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&ours.sa_mask);
        taken = take;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            sigaction(numbers[i], &ours, before(numbers[i]));
        }
    }
    pthread_mutex_unlock(&lock);
}

SIM_EXPORT void *sim____cudlaSimSignalStack(void *one)
{
    stack_t stack = {.ss_flags = SS_DISABLE}, now;
    if (one != NULL) {
        sigaltstack(&stack, NULL);
        free(one);
        return NULL;
    }
    if (sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) { return NULL; }
    stack = (stack_t){.ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE};
    if (stack.ss_sp != NULL && sigaltstack(&stack, NULL) != 0) {
        free(stack.ss_sp);
        return NULL;
    }
    return stack.ss_sp;
}
