/* The loop `apply` of the file that includes this, for each kind of table and the machine's widest
 * vectors, as the function that SIM_LUT_APPLY names. */
INLINE void apply_kind(const struct sim_lut *lut, double *values, int count,
                       struct sim_lut_counts *counts)
{
    if (lut->cdp && lut->linear)
        apply(lut, values, count, counts, 1, 1);
    else if (lut->cdp)
        apply(lut, values, count, counts, 1, 0);
    else if (lut->linear)
        apply(lut, values, count, counts, 0, 1);
    else
        apply(lut, values, count, counts, 0, 0);
}

#define APPLY(name, attributes)                                                          \
    attributes static void name(const struct sim_lut *lut, double *values, int count,    \
                                struct sim_lut_counts *counts)                           \
    {                                                                                    \
        apply_kind(lut, values, count, counts);                                          \
    }

APPLY(apply_plain, )

#if defined(__x86_64__)
APPLY(apply_512, WIDE_VECTORS)
APPLY(apply_256, __attribute__((target("avx2"))))
#endif

void SIM_LUT_APPLY(const struct sim_lut *lut, double *values, int count,
                   struct sim_lut_counts *counts)
{
#if defined(__x86_64__)
    int cpu = sim_cpu();
    if (cpu & SIM_CPU_AVX512) {
        apply_512(lut, values, count, counts);
        return;
    }
    if (cpu & SIM_CPU_AVX2) {
        apply_256(lut, values, count, counts);
        return;
    }
#endif
    apply_plain(lut, values, count, counts);
}
