/* What instructions this machine and its system have. Asked of the processor itself: the builtins of
 * compilers for it rely on runtimes that not every toolchain brings along. */
#ifndef CUDLA_SIM_CPU_H
#define CUDLA_SIM_CPU_H

enum {
    SIM_CPU_AVX2 = 1,
    SIM_CPU_AVX_VNNI = 2,
    SIM_CPU_AVX512 = 4, /* F, CD, BW, DQ, VL */
    SIM_CPU_AVX512_VNNI = 8,
};

#if defined(__x86_64__)
#include <cpuid.h>

/* For functions whose loops become vectors of 512 bits. */
#if defined(__clang__)
#define WIDE_VECTORS \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), min_vector_width(512)))
#else
#define WIDE_VECTORS \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif

static inline int sim_cpu_asked(void)
{
    unsigned a, b, c, d, low, high;
    int found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) /* OSXSAVE */
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) /* SSE and AVX state */
        return 0;
    if (b >> 5 & 1)
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

/* Virtual machines take microseconds for each question, so the answer is kept. */
static inline int sim_cpu(void)
{
    static int known = -1;
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found < 0) {
        found = sim_cpu_asked();
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found;
}
#else
static inline int sim_cpu(void)
{
    return 0;
}
#endif

#endif
