/*
 * Faults of a kernel: what happened and where goes into the reply, then the process ends; the host
 * starts a fresh one for the next launch. Signals of the processor arrive on an alternate stack.
 */
#define _GNU_SOURCE
#include "rt.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_WORDS 4096

/* Where the processor was. */
#if defined(__x86_64__)
#define PROGRAM_COUNTER(context) ((uint64_t)(context)->uc_mcontext.gregs[REG_RIP])
#define STACK_POINTER(context) ((uint64_t)(context)->uc_mcontext.gregs[REG_RSP])
#elif defined(__aarch64__)
#define PROGRAM_COUNTER(context) ((uint64_t)(context)->uc_mcontext.pc)
#define STACK_POINTER(context) ((uint64_t)(context)->uc_mcontext.sp)
#else
#error "the registers of this processor have no names here"
#endif

extern uint8_t __executable_start[], etext[];
static uint8_t alternate_stack[65536] __attribute__((aligned(16)));
static void (*end_process)(void);

static int in_program(uint64_t pc)
{
    return pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext;
}

/* Words of the stack that look like return addresses; functions need not keep frame pointers. */
static void note_callers(uint64_t stack_pointer)
{
    uint64_t top = (uint64_t)(uintptr_t)environ; /* the environment lies above all frames */
    rt_reply->chain_length = 0;
    for (uint64_t at = (stack_pointer + 7) & ~7ull, words = 0;
         at + 8 <= top && words < STACK_WORDS && rt_reply->chain_length < 8; at += 8, words++) {
        uint64_t word = *(const uint64_t *)(uintptr_t)at;
        if (in_program(word))
            rt_reply->chain[rt_reply->chain_length++] = word;
    }
}

static _Noreturn void end_with(uint32_t status, uint32_t cause, uint64_t pc, uint64_t address)
{
    rt_reply->status = status;
    rt_reply->cause = cause;
    rt_reply->pc = pc;
    rt_reply->address = address;
    end_process();
    __builtin_unreachable();
}

void rt_stop(uint32_t status, uint32_t cause, uint32_t flow, uint64_t address, const char *text,
             void *caller)
{
    rt_reply->flow = flow;
    strncpy(rt_reply->text, text, sizeof rt_reply->text - 1);
    note_callers((uintptr_t)__builtin_frame_address(0));
    end_with(status, cause, (uintptr_t)caller, address);
}

/* Never inlined: its caller here is no caller of a kernel. */
__attribute__((noinline)) void pva_rt_misuse(const char *text)
{
    rt_stop(PVA_FAULT, PVA_CAUSE_ORDER, 0, 0, text, __builtin_return_address(0));
}

#if defined(__x86_64__)
#define INVALID_MASKED (1u << 7) /* of MXCSR */
#define TRAP_FLAG (1ll << 8)     /* of RFLAGS: one instruction, then SIGTRAP */

static int stepping;

/*
 * Invalid operations that make no NaN: comparisons, minimum and maximum, and conversions of what no
 * integer can be. By the opcode behind legacy prefixes, VEX or EVEX, all in the map of 0F.
 */
static int makes_no_nan(const uint8_t *code)
{
    while (*code == 0x66 || *code == 0xF2 || *code == 0xF3 || (*code & 0xF0) == 0x40)
        code++;
    if (*code == 0x0F)
        code += 1;
    else if (*code == 0xC5)
        code += 2;
    else if (*code == 0xC4 && (code[1] & 31) == 1)
        code += 3;
    else if (*code == 0x62 && (code[1] & 7) == 1)
        code += 4;
    else
        return 0;
    switch (*code) {
    case 0x2C: case 0x2D: case 0x5B: case 0xE6: /* to int32 and int64 */
    case 0x78: case 0x79: case 0x7A: case 0x7B: /* to unsigned, with EVEX */
    case 0x2E: case 0x2F: case 0xC2:            /* comparisons */
    case 0x5D: case 0x5F:                       /* minimum, maximum */
        return 1;
    }
    return 0;
}

/* Does such an operation with its default result; 1 when the kernel goes on. */
static int step_over(int number, siginfo_t *info, ucontext_t *at)
{
    greg_t *registers = at->uc_mcontext.gregs;
    if (number == SIGTRAP && stepping) {
        stepping = 0;
        registers[REG_EFL] &= ~TRAP_FLAG;
        at->uc_mcontext.fpregs->mxcsr &= ~(INVALID_MASKED | FE_INVALID);
        return 1;
    }
    if (number != SIGFPE || info->si_code != FPE_FLTINV
        || !makes_no_nan((const uint8_t *)(uintptr_t)registers[REG_RIP]))
        return 0;
    stepping = 1;
    registers[REG_EFL] |= TRAP_FLAG;
    at->uc_mcontext.fpregs->mxcsr |= INVALID_MASKED;
    return 1;
}
#else
static int step_over(int number, siginfo_t *info, ucontext_t *at)
{
    (void)number, (void)info, (void)at;
    return 0;
}
#endif

static void on_trap(int number, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    if (step_over(number, info, context))
        return;
    uint64_t pc = PROGRAM_COUNTER(at), sp = STACK_POINTER(at);
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    if (rt_reply == 0 || rt_reply->status != PVA_RUNNING)
        _exit(128 + number);
    uint32_t cause = PVA_CAUSE_MEMORY;
    if (number == SIGFPE)
        cause = info->si_code == FPE_FLTINV ? PVA_CAUSE_NAN : PVA_CAUSE_DIVISION;
    else if (number == SIGILL || number == SIGTRAP)
        cause = PVA_CAUSE_INSTRUCTION;
    else if (number == SIGABRT)
        cause = PVA_CAUSE_ABORT;
    else if (address + 65536 > sp && address < sp + 65536)
        cause = PVA_CAUSE_STACK;
    if (number == SIGSEGV && info->si_code == SI_KERNEL)
        address = UINT64_MAX; /* not a canonical address: the processor does not say which */
    if (cause == PVA_CAUSE_STACK)
        rt_reply->chain_length = 0;
    else
        note_callers(sp);
    end_with(PVA_FAULT, cause, pc, address);
}

/* The host's patience ended. */
static void on_interrupt(int number, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    (void)number;
    (void)info;
    if (rt_reply->status != PVA_RUNNING)
        return;
    note_callers(STACK_POINTER(at));
    end_with(PVA_INTERRUPTED, PVA_CAUSE_NONE, PROGRAM_COUNTER(at), 0);
}

/* An invalid operation of floating point is an error of the kernel, or gives a NaN. */
void pva_rt_nan_errors(int enabled)
{
    feclearexcept(FE_INVALID);
    if (!enabled)
        fedisableexcept(FE_INVALID);
    else if (feenableexcept(FE_INVALID) < 0)
        pva_rt_misuse("this processor does not report invalid operations of floating point");
}

/* A kernel begins with NaNs as errors, where the processor reports them. */
void rt_faults_begin(void)
{
    feclearexcept(FE_INVALID);
    (void)feenableexcept(FE_INVALID);
}

void rt_faults_setup(void (*end)(void))
{
    end_process = end;
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    sigaltstack(&stack, 0);
    static const int traps[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    action.sa_sigaction = on_trap;
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++)
        sigaction(traps[i], &action, 0);
    action.sa_sigaction = on_interrupt;
    sigaction(SIGUSR1, &action, 0);
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, 0);
}
