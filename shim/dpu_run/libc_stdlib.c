/*
 * <stdlib.h>, assert and the fault helpers for DPU programs. A tasklet that calls exit or
 * abort ends; the others go on.
 * Source: UPMEM SDK 2025.1, user manual, "Standard library", "Exceptions".
 */
#include <assert.h>
#include <ctype.h>
#include <defs.h>
#include <dpufault.h>
#include <stdlib.h>

#include "rt.h"

void __rt_program_fault(uint32_t code)
{
    rt_fault(FAULT_PROGRAM, code, CALLER, 0, 0);
}

API void halt(void)
{
    rt_fault(FAULT_PROGRAM, __FAULT_HALT__, CALLER, 0, 0);
}

API void exit(int status)
{
    (void)status;
    rt_tasklet_end();
}

API void abort(void)
{
    rt_tasklet_end();
}

API int check_stack(void)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    return (int)(sp - rt_stack_bottom(__rt_me));
}

API int abs(int v)
{
    return v < 0 ? -v : v;
}

API long labs(long v)
{
    return v < 0 ? -v : v;
}

API long long llabs(long long v)
{
    return v < 0 ? -v : v;
}

API div_t div(int a, int b)
{
    return (div_t){a / b, a % b};
}

API ldiv_t ldiv(long a, long b)
{
    return (ldiv_t){a / b, a % b};
}

API lldiv_t lldiv(long long a, long long b)
{
    return (lldiv_t){a / b, a % b};
}

API long long strtoll(const char *restrict s, char **restrict end, int base)
{
    const char *start = s;
    while (isspace((uint8_t)*s))
        s++;
    bool negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] | 0x20) == 'x' && isxdigit((uint8_t)s[2])) {
        s += 2;
        base = 16;
    } else if (base == 0) {
        base = *s == '0' ? 8 : 10;
    }
    unsigned long long value = 0;
    bool any = false;
    for (;; s++) {
        int c = (uint8_t)*s;
        int d = isdigit(c) ? c - '0' : isalpha(c) ? (c | 0x20) - 'a' + 10 : 99;
        if (d >= base)
            break;
        value = value * (unsigned)base + (unsigned)d;
        any = true;
    }
    if (end)
        *end = (char *)(uintptr_t)(any ? s : start);
    return (long long)(negative ? -value : value);
}

API unsigned long long strtoull(const char *restrict s, char **restrict end, int base)
{
    return (unsigned long long)strtoll(s, end, base);
}

API long strtol(const char *restrict s, char **restrict end, int base)
{
    return (long)strtoll(s, end, base);
}

API unsigned long strtoul(const char *restrict s, char **restrict end, int base)
{
    return (unsigned long)strtoll(s, end, base);
}

API int atoi(const char *s)
{
    return (int)strtoll(s, NULL, 10);
}

API long atol(const char *s)
{
    return (long)strtoll(s, NULL, 10);
}

API long long atoll(const char *s)
{
    return strtoll(s, NULL, 10);
}

/* gcc calls it for __builtin_popcount on x86-64 without the popcnt instruction */
API int __popcountdi2(long long value)
{
    int count = 0;
    for (unsigned long long v = (unsigned long long)value; v; v &= v - 1)
        count++;
    return count;
}
