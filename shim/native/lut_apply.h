/* The loop `apply` of the file that includes this, for each kind of table and level of instructions, as
 * the function that SIM_LUT_APPLY names. */
INLINE void apply_kind_body(const struct sim_lut *lut, double *values, int count,
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

LEVELS(void, apply_kind,
       (const struct sim_lut *lut, double *values, int count, struct sim_lut_counts *counts),
       (lut, values, count, counts))

void SIM_LUT_APPLY(const struct sim_lut *lut, double *values, int count,
                   struct sim_lut_counts *counts)
{
    apply_kind(lut, values, count, counts);
}
