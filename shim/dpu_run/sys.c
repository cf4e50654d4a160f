/* Linux system calls, made directly: a worker has no C library. */
#include "rt.h"

int64_t rt_syscall(int64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
    uint64_t f)
{
    int64_t result;
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

void rt_exit(int status)
{
    for (;;)
        rt_syscall(231 /* exit_group */, (uint64_t)status, 0, 0, 0, 0, 0);
}

uint64_t rt_cpu_time_ns(void)
{
    struct {
        uint64_t seconds, nanoseconds;
    } now = {0, 0};
    rt_syscall(228 /* clock_gettime */, 3 /* CLOCK_THREAD_CPUTIME_ID */, (uintptr_t)&now, 0, 0, 0,
        0);
    return now.seconds * 1000000000u + now.nanoseconds;
}
