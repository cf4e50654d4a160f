/* Vector operations on two vectors of 24-bit lanes; each result is a row of `found`. */
#include <cupva_device.h>

#define WIDTH 96
#define ROWS 6

VMEM(A, int16_t, a16, 32);
VMEM(A, int16_t, b16, 32);
VMEM(A, uint16_t, u16, 32);
VMEM(A, uint8_t, u8, 64);
VMEM(A, int8_t, s8, 64);
VMEM(A, int32_t, s32, 16);
VMEM(A, int32_t, scale);
VMEM(B, int32_t, found, 64, 32);
VMEM(B, uint16_t, stored, 32);
VMEM(B, uint8_t, stored8, 64);
VMEM(B, int32_t, chars, 4, 64);
VMEM(B, int64_t, ints, 4, 16);
VMEM(C, uint16_t, picture, ROWS, WIDTH + 2);
VMEM(C, uint16_t, smooth, ROWS, WIDTH);
VMEM(C, uint16_t, permuted, 32);
VMEM(C, float, floats, 16);
VMEM(C, uint16_t, sums, 3, 32);
VMEM(C, int32_t, total);

typedef struct {
    AgenCFG input, output;
    int32_t niter, vecw;
} Config;
VMEM(C, Config, config);

static dvshortx constant;
static int32_t row;

static void keep(dvshortx value)
{
    for (int32_t i = 0; i < 32; i++)
        found[row][i] = extract(value, i);
    row++;
}

static void operators(dvshortx a, dvshortx b)
{
    keep(a + b);
    keep(a - b);
    keep(a * b);
    keep(a & b);
    keep(a | b);
    keep(a ^ b);
    keep(~a);
    keep(-a);
    keep(a << 3);
    keep(a >> 3);
    keep(a == b);
    keep(a != b);
    keep(a < b);
    keep(a <= b);
    keep(a > b);
    keep(a >= b);
    keep((a > 0) && (b > 0));
    keep((a > 0) || (b > 0));
    keep(!(a > 0));
    keep(100 - a);
    keep(a + 8388607);
    dvshortx c = a;
    c += b;
    c -= 1;
    c |= 4;
    c &= 0xFFFF;
    keep(c);
}

static void intrinsics(dvshortx a, dvshortx b)
{
    keep(dvmin(a, b));
    keep(dvmin(a, 11));
    keep(dvmax(a, b));
    keep(dvabsdif(a, b));
    keep(dvabs(a));
    keep(dvmux(a > b, a, b));
    keep(dvmux(a > b, 65535, b));
    keep(dvmulh(a, b, VPU_ROUND_0));
    keep(dvmulh(a, scale, VPU_TRUNC_7));
    keep(dvmulh(a, scale, VPU_ROUND_7));
    keep(dvmaddh(a, 3, b, VPU_ROUND_0, 0xFFFFFFFF));
    keep(dvmaddh(a, 3, b, VPU_ROUND_0, 0));
    keep(dvmaddh(a, 3, b, VPU_ROUND_1, 0x0000FFFF));
    keep(dvmsubh(a, 3, b));
    keep(dvclamp(a, -100, 100));
    keep(vpromote(vdemote(a)));
    constant.lo = replicateh(-5);
    constant.hi = replicateh(300);
    keep(constant);
    keep(chess_dont_care(dvshortx) & 0);
}

/* Five-point mean of each row through agens, as kernels set them up. */
static void filter(void)
{
    config.vecw = pva_elementsof(dvshortx);
    AgenWrapper in;
    in.size = sizeof(uint16_t);
    in.n1 = 3;
    in.s1 = 1;
    in.n2 = WIDTH / config.vecw;
    in.s2 = config.vecw;
    in.n3 = ROWS;
    in.s3 = WIDTH + 2;
    agen input = init((dvushort *)NULL);
    INIT_AGEN3(input, in);
    config.input = extract_agen_cfg(input);
    AgenWrapper out;
    out.size = sizeof(uint16_t);
    out.n1 = WIDTH / config.vecw;
    out.s1 = config.vecw;
    out.n2 = ROWS;
    out.s2 = WIDTH;
    agen output = init((dvushort *)&smooth[0][0]);
    INIT_AGEN2(output, out);
    config.output = extract_agen_cfg(output);
    config.niter = WIDTH / config.vecw * ROWS;

    cupvaModifyAgenCfgBase(&config.input, &picture[0][0]);
    input = init_agen_from_cfg(config.input);
    output = init_agen_from_cfg(config.output);
    for (int32_t i = 0; i < config.niter; i++) chess_prepare_for_pipelining
    chess_loop_range(6, )
    chess_unroll_loop(2)
    {
        dvshortx left = dvushort_load(input);
        dvshortx centre = dvushort_load(input);
        dvshortx right = dvushort_load(input);
        vstore(left + (centre << 1) + right >> 2, output);
    }
}

CUPVA_VPU_MAIN()
{
    agen a_agen = init((dvshort *)a16), b_agen = init((dvshort *)b16);
    dvshortx a = dvshort_load(a_agen), b = dvshort_load(b_agen);
    keep(a);
    keep(dvushort_load(u16));
    operators(a * scale, b * scale);
    intrinsics(a * scale, b * scale);
    filter();

    agen table = init((dvushort *)u16), to = init((dvushort *)permuted);
    vcharx index = vdemote(dvabs(a) & 31);
    vstore(dvushort_load_perm(table, index), to);
    vstore(a * scale, stored);

    dvcharx bytes = dvuchar_load(u8), more = dvchar_load(s8);
    dvcharx results[4] = {bytes + more, bytes * more, dvabsdif(bytes, more), dvmux(bytes > more, 1, more)};
    for (int32_t r = 0; r < 4; r++)
        for (int32_t i = 0; i < 64; i++)
            chars[r][i] = extract(results[r], i);
    vstore(bytes + more, stored8);

    dvintx words = dvint_load(s32);
    dvintx wide[4] = {words * words, words << 20, dvmin(words, 7), words >= 0};
    for (int32_t r = 0; r < 4; r++)
        for (int32_t i = 0; i < 16; i++)
            ints[r][i] = extract(wide[r], i);

    /* A flattened loop: three loads are summed, every third iteration stores. */
    AgenWrapper three;
    three.size = sizeof(uint16_t);
    three.n1 = 3;
    three.s1 = 0;
    three.n2 = 2;
    three.s2 = 32;
    agen sums_agen = init((dvushort *)&sums[0][0]), again = init((dvushort *)u16);
    INIT_AGEN2(sums_agen, three);
    int32_t stores = 0, adds = 0, store_now = 0, add_now = 0;
    dvshortx sum = chess_dont_care(dvshortx) & 0;
    for (int32_t i = 0; i < 6; i++) {
        stores = mod_inc_pred_z(stores, 2, store_now);
        sum = dvmaddh(dvushort_load(again) & 255, i + 1, sum, VPU_ROUND_0, add_now);
        adds = mod_inc_pred_nz(adds, 2, add_now);
        vstore(sum, sums_agen, store_now);
    }
    agen some = init((dvushort *)&sums[2][0]);
    vstore(a, some, 0x0000FF0F);
    total = vsumr_s(vdemote(a > b));

    dvfloat f = dvfloat_load(floats);
    vstore(f * 2.0f + f, floats);
}
