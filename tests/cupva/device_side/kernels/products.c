/* Products of each width of lanes, brought back as `how` says, with sums by lane. */
#include <cupva_device.h>

VMEM(A, int32_t, how);
VMEM(A, uint64_t, predicate);
VMEM(A, int16_t, a8, 64);
VMEM(A, int16_t, b8, 64);
VMEM(B, int32_t, a16, 32);
VMEM(B, int32_t, b16, 32);
VMEM(C, int64_t, a32, 16);
VMEM(C, int64_t, b32, 16);
VMEM(A, int64_t, found8, 4, 64);
VMEM(B, int64_t, found16, 4, 32);
VMEM(C, int64_t, found32, 4, 16);
VMEM(C, int64_t, widths, 4, 32);

template <typename R, typename E> static R lanes(const E *from)
{
    R result{};
    for (int i = 0; i < pva_elementsof(R); i++)
        pva::set_lane(result, i, from[i]);
    return result;
}

template <typename R> static void keep(int64_t *to, const R &value)
{
    for (int i = 0; i < pva_elementsof(R); i++)
        to[i] = extract(value, i);
}

template <typename R, typename E> static void products(int64_t *to, const E *one, const E *other)
{
    const R a = lanes<R>(one), b = lanes<R>(other);
    const int count = pva_elementsof(R);
    keep(to, dvmulh(a, b, how));
    keep(to + count, dvmaddh(a, b, b, how, predicate));
    keep(to + 2 * count, dvmsubh(a, b, a, how, predicate));
    keep(to + 3 * count, deposit_lo(vmaddh(a.lo, 5, b.lo, how, predicate)));
}

CUPVA_VPU_MAIN()
{
    products<dvcharx>(&found8[0][0], a8, b8);
    products<dvshortx>(&found16[0][0], a16, b16);
    products<dvintx>(&found32[0][0], a32, b32);
    keep(widths[0], vdemote(lanes<dvshortx>(a16)));
    keep(widths[1], vpromote(vdemote(lanes<dvshortx>(b16))));
    keep(widths[2], vdemote(lanes<dvintx>(a32)));
    keep(widths[3], vpromote(vdemote(lanes<dvintx>(b32))));
    return 0;
}
