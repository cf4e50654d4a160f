/*
 * Which instructions there are. Asked of the processor itself: the builtins of compilers for it rely on
 * runtimes that not every toolchain brings along.
 */
#include "native/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "native/native.h"

#if defined(__x86_64__)
#include <cpuid.h>

static int asked(void)
{
    unsigned a, b, c, d, low, high;
    int found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) /* OSXSAVE */
        return 0;
    int f16c = c >> 29 & 1;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) /* SSE and AVX state */
        return 0;
    if (b >> 5 & 1 && f16c)
        found |= SIM_CPU_AVX2;
    if ((low & 0xe0) == 0xe0 && /* AVX-512 state */
        (b >> 16 & b >> 17 & b >> 28 & b >> 30 & b >> 31 & 1)) {
        found |= SIM_CPU_AVX512;
        if (c >> 11 & 1)
            found |= SIM_CPU_AVX512_VNNI;
    }
    if ((found & SIM_CPU_AVX2) && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
        (a >> 4 & 1))
        found |= SIM_CPU_AVX_VNNI;
    return found;
}
#else
static int asked(void)
{
    return 0;
}
#endif

static const struct {
    const char *name;
    int has;
} levels[] = {
    {"machine", ~0},
    {"portable", 0},
    {"avx2", SIM_CPU_AVX2},
    {"avx_vnni", SIM_CPU_AVX2 | SIM_CPU_AVX_VNNI},
    {"avx512", SIM_CPU_AVX2 | SIM_CPU_AVX512},
    {"vnni", SIM_CPU_AVX2 | SIM_CPU_AVX512 | SIM_CPU_AVX512_VNNI},
};

static int known = -1;

/* Virtual machines take microseconds for each question, so the answer is kept. Parts of the package that know
 * no settings begin with the variable of this one. */
int sim_cpu(void)
{
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found < 0) {
        const char *name = getenv("CUDLA_SIM_ISA");
        if (name == NULL || sim_isa(name) < 0)
            sim_isa("machine");
        found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    }
    return found;
}

int sim_isa(const char *name)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i].name, name) == 0) {
            int has = asked();
            __atomic_store_n(&known, has & levels[i].has, __ATOMIC_RELAXED);
            return levels[i].has == ~0 || (has & levels[i].has) == levels[i].has;
        }
    return -1;
}
