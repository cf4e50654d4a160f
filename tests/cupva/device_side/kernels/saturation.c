/* Stores that saturate, for each width of lanes, through agens of each group kept in VMEM. */
#include <cupva_device.h>

VMEM(A, int8_t, in8, 64);
VMEM(A, int16_t, in16, 32);
VMEM(A, int32_t, in32, 16);
VMEM(B, uint8_t, out8, 64);
VMEM(B, uint16_t, out16, 32);
VMEM(B, uint32_t, out32, 16);
VMEM(C, uint16_t, some, 32);
VMEM(C, uint16_t, defaults, 2, 32);
VMEM(C, int32_t, found, 8, 32);
VMEM(C, int32_t, scale);
VMEM(C, int32_t, numbers, 4);

/* sat_opt, sat_lim_lo, sat_val_lo, sat_lim_hi, sat_val_hi */
VMEM(B, int32_t, fields, 5);

typedef struct {
    AgenCFG out8, out16, out32, some;
} Config;
VMEM(B, Config, config);

static AgenCFG limited(agen a)
{
    a.sat_opt = fields[0];
    a.sat_lim_lo = fields[1];
    a.sat_val_lo = fields[2];
    a.sat_lim_hi = fields[3];
    a.sat_val_hi = fields[4];
    return extract_agen_cfg(a);
}

static void keep(int32_t row, const dvshortx &value)
{
    for (int32_t i = 0; i < 32; i++)
        found[row][i] = extract(value, i);
}

CUPVA_VPU_MAIN()
{
    config.out8 = limited(init((dvuchar *)out8));
    config.out16 = limited(init((dvushort *)out16));
    config.out32 = limited(init((dvuint *)out32));
    config.some = limited(init((dvushort *)some));
    agen_A to8 = init_agen_A_from_cfg(config.out8);
    agen_B to16 = init_agen_B_from_cfg(config.out16);
    agen_C to32 = init_agen_C_from_cfg(config.out32);
    agen to_some = init_agen_from_cfg(config.some);

    dvcharx a8 = dvchar_load(in8);
    dvshortx a = dvshort_load(in16) * scale;
    vstore(a8, to8);
    vstore(a, to16);
    vstore(dvint_load(in32) * scale, to32);
    vstore(a, to_some, 0x00FF00F0);

    /* The range of the agen's own elements. */
    agen is_unsigned = init((dvushort *)&defaults[0][0]), is_signed = init((dvshort *)&defaults[1][0]);
    is_unsigned.sat_opt = 3;
    is_signed.sat_opt = 1;
    vstore(a, is_unsigned);
    vstore(a, is_signed);

    dvshortx b = dvshort_load(in16);
    keep(0, max(a, b));
    keep(1, min(a, b));
    keep(2, max(a, 11));
    keep(3, min(-11, a));
    keep(4, dvadd3(a, b, 8388607));
    keep(5, vadd3(1, a, a));
    keep(6, deposit_lo(a.lo));
    keep(7, deposit_hi(a.lo));
    numbers[0] = max(scale, 7);
    numbers[1] = min(scale, 7);
    numbers[2] = max(2.5, 1) * 2;
    numbers[3] = min((int16_t)-3, 2);
}
