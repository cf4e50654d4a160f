/*
 * Signals of the processor, which are a program's faults or nothing at all, and the ticks of the timer,
 * which put a tasklet aside that spins. They arrive on an alternate stack.
 */
#include "null_pointer.h"
#include "operand.h"
#include "times.h"

static uint8_t alternate_stack[65536] __attribute__((aligned(16)));
static bool scratch_mapped; /* pages next to WRAM that a lenient check let a program touch */
static bool guard_opened;   /* of a stack that a check only warned about */
static uint32_t tick_us;    /* 0: no timer runs */

/* Linux's layouts, whatever the size of our pointers. */
struct kernel_sigaction {
    uint64_t handler, flags, restorer, mask;
};

struct kernel_siginfo {
    int32_t number, error, code, pad;
    uint64_t address;
};

struct kernel_ucontext {
    uint64_t flags, link, stack_address, stack_flags, stack_size;
    uint64_t registers[23];
};

/* Undoes what a lenient check mapped during the launch. */
void rt_traps_end(void)
{
    if (guard_opened)
        rt_stacks_protect(true);
    guard_opened = false;
    if (!scratch_mapped)
        return;
    scratch_mapped = false;
    rt_syscall(11 /* munmap */, 0x07000000, WRAM_BASE - 0x07000000, 0, 0, 0, 0);
    rt_syscall(11, WRAM_BASE + WRAM_SIZE, MRAM_BASE - WRAM_BASE - WRAM_SIZE, 0, 0, 0, 0);
}

/*
 * True when the program may go on. An access next to WRAM gets a page of its own when its check does
 * not fault; the guard of a stack is opened when that check only warns.
 */
static bool tolerated(uint64_t address, uint64_t pc)
{
    if (address >= 0x07000000 && address < MRAM_BASE) {
        if (rt_check(CHECK_WRAM_BOUNDS) == CHECK_FAULT)
            return false;
        rt_report(CHECK_WRAM_BOUNDS, FAULT_MEMORY, pc, address, 0, 0);
        uint64_t page = address & ~4095ull;
        rt_syscall(9 /* mmap */, page, 4096, 3, 0x32 /* FIXED PRIVATE ANONYMOUS */, (uint64_t)-1, 0);
        scratch_mapped = true;
        return true;
    }
    uint64_t start = STACKS_BASE + __rt_me * STACK_STRIDE;
    if (rt_check(CHECK_STACK_OVERFLOW) == CHECK_WARN && address >= start + 4096
        && address < start + STACK_STRIDE) {
        rt_report(CHECK_STACK_OVERFLOW, FAULT_STACK, pc, address, 0, 0);
        rt_syscall(10 /* mprotect */, start + 4096, STACK_STRIDE - 4096, 3, 0, 0, 0);
        guard_opened = true;
        return true;
    }
    return false;
}

static uint32_t kind_of_access(uint64_t address, uint64_t pc)
{
    if (address == pc || !(rt_in_user_code(pc) || pc >= 0x20000000))
        return FAULT_INSTRUCTION;
    if (address >= STACKS_BASE && address < STACKS_END)
        return FAULT_STACK;
    return address < 4096 ? FAULT_NULL : FAULT_MEMORY;
}

/*
 * x86 traps INT_MIN / -1, a DPU does not: its division is a subroutine that gives INT_MIN and
 * remainder 0. Decodes `idiv r/m`; gives its length, or 0 for a division by zero.
 */
static uint32_t overflowed_division(const uint64_t *registers)
{
    const uint8_t *start = (const uint8_t *)(uintptr_t)registers[RIP], *p = start;
    bool address32 = false;
    uint8_t rex = 0;
    for (;; p++) {
        if (*p == 0x67)
            address32 = true;
        else if ((*p & 0xf0) == 0x40)
            rex = *p;
        else if (*p != 0x66)
            break;
    }
    if (*p++ != 0xf7)
        return 0;
    struct operand o = decode_operand(p, rex);
    if (o.reg != 7)
        return 0;
    uint64_t divisor = 0;
    if (o.mod == 3) {
        divisor = registers[o.base];
    } else {
        uint64_t address = (uint64_t)(int64_t)o.displacement;
        if (o.relative)
            address += (uintptr_t)o.end;
        if (o.base >= 0)
            address += registers[o.base];
        if (o.index >= 0)
            address += registers[o.index] << o.scale;
        if (address32)
            address &= 0xffffffff;
        rt_copy(&divisor, (const void *)(uintptr_t)address, rex & 8 ? 8 : 4);
    }
    if (!(rex & 8))
        divisor &= 0xffffffff;
    return divisor ? (uint32_t)(o.end - start) : 0;
}

static void on_trap(int number, struct kernel_siginfo *info, struct kernel_ucontext *context)
{
    uint64_t *registers = context->registers;
    uint64_t pc = registers[RIP], address = info->address;
    if (rt_side.state != STATE_RUNNING)
        rt_exit(128 + number);
    if (number == 8 /* SIGFPE */) {
        uint32_t length = overflowed_division(registers);
        if (length) {
            registers[RDX] = 0; /* the dividend stays as the quotient */
            registers[RIP] += length;
            return;
        }
        rt_stop_dpu(FAULT_PROGRAM, 2, pc, 0, 0, registers[RSP]);
    }
    if (rt_null_pending()) { /* the step is over, or it has trapped itself */
        rt_null_end(registers);
        if (number == 5 /* SIGTRAP */)
            return;
    }
    if (number == 4 /* SIGILL */ || number == 5 /* SIGTRAP */)
        rt_stop_dpu(FAULT_INSTRUCTION, 0, pc, pc, 0, registers[RSP]);
    if (address < NULL_BYTES && rt_check(CHECK_NULL_POINTER) != CHECK_FAULT
        && rt_null_begin(registers, address)) {
        rt_report(CHECK_NULL_POINTER, FAULT_NULL, pc, address, 0, 0);
        return;
    }
    if (tolerated(address, pc))
        return;
    rt_stop_dpu(kind_of_access(address, pc), 0, pc, address, 0, registers[RSP]);
}

/* Not inlined: gdb stops here, and makes ticks slower. */
__attribute__((noinline)) void rt_set_tick(uint32_t microseconds)
{
    if (microseconds == tick_us)
        return;
    tick_us = microseconds;
    uint64_t timer[4] = {0, microseconds, 0, microseconds};
    rt_syscall(38 /* setitimer */, 0 /* ITIMER_REAL */, (uintptr_t)timer, 0, 0, 0, 0);
}

/*
 * Every 5 ms while a launch runs. A tasklet that neither ended nor yielded since the last tick is
 * put aside, if it is in the program's own code (never inside the runtime). Once that has happened,
 * this DPU gets short ticks: its tasklets probably wait for each other by spinning.
 *
 * In hardware time a tasklet computes as long as it wants: only after two seconds without an event it
 * is taken to spin where the compiler saw no loop that waits.
 */
#define TIMED_TICKS 400u
#define TIMED_SPIN 1000u /* instructions that it is charged */

static void on_tick(int number, struct kernel_siginfo *info, struct kernel_ucontext *context)
{
    static uint32_t last, ticks;
    (void)number;
    (void)info;
    uint64_t *registers = context->registers;
    if (rt_null_pending())
        return;
    if (rt_switches != last || rt_side.state != STATE_RUNNING) {
        last = rt_switches;
        ticks = 0;
        return;
    }
    if (!rt_in_user_code(registers[RIP]) || (rt_timed && ++ticks < TIMED_TICKS))
        return;
    if (rt_timed) {
        ticks = 0;
        rt_time_add(TIMED_SPIN);
    }
    uint64_t sp = registers[RSP] - 128 - 8; /* 128: the red zone */
    uint64_t bottom = rt_stack_bottom(__rt_me);
    if (sp - 1024 < bottom || sp > bottom + STACK_STRIDE)
        return;
    *(uint64_t *)(uintptr_t)sp = registers[RIP];
    registers[RSP] = sp;
    registers[RIP] = (uintptr_t)rt_preempted;
    if (!rt_timed)
        rt_set_tick(SHORT_TICK_US);
}

enum { SIGINFO = 0x4, RESTORER = 0x04000000, ONSTACK = 0x08000000, RESTART = 0x10000000,
    NODEFER = 0x40000000 };

static void handle(int number, uintptr_t handler, uint64_t flags)
{
    struct kernel_sigaction action = {
        .handler = handler,
        .flags = SIGINFO | RESTORER | ONSTACK | RESTART | flags,
        .restorer = (uintptr_t)rt_restorer,
    };
    rt_syscall(13 /* rt_sigaction */, (uint64_t)number, (uintptr_t)&action, 0, 8, 0, 0);
}

void rt_traps_setup(void)
{
    struct {
        uint64_t address;
        int32_t flags, pad;
        uint64_t size;
    } stack = {(uintptr_t)alternate_stack, 0, 0, sizeof(alternate_stack)};
    rt_syscall(131 /* sigaltstack */, (uintptr_t)&stack, 0, 0, 0, 0, 0);
    static const uint8_t traps[] = {4, 5, 7, 8, 11}, ignored[] = {1, 2, 3, 13, 20};
    for (uint32_t i = 0; i < sizeof(traps); i++)
        handle(traps[i], (uintptr_t)on_trap, NODEFER); /* which leaves without returning */
    for (uint32_t i = 0; i < sizeof(ignored); i++)
        handle(ignored[i], 1 /* SIG_IGN */, 0);
    /* Blocked while it runs: under load ticks come faster than they end, and would fill the stack. */
    handle(14 /* SIGALRM */, (uintptr_t)on_tick, 0);
    uint64_t none = 0;
    rt_syscall(14 /* rt_sigprocmask */, 2 /* SIG_SETMASK */, (uintptr_t)&none, 0, 8, 0, 0);
}
