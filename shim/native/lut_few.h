/*
 * Values of a part that the quick way does not cover, left for the end of a line: there `apply_any` of the file
 * that includes this takes them together.
 */
enum { LUT_PART = 32, LUT_FEW = 8, FEW = 64 };

/* Values that are left for the end. */
struct few {
    int count;
    double values[FEW], *where[FEW];
};

INLINE void apply_few(const struct sim_lut *lut, struct few *few, struct sim_lut_counts *counts,
                      const int cdp, const int linear)
{
    apply_any(lut, few->values, few->count, counts, cdp, linear);
    for (int i = 0; i < few->count; i++)
        *few->where[i] = few->values[i];
    few->count = 0;
}
