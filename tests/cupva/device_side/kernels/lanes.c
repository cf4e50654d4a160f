/* Every operation on lanes that may have any value, for the register type that `type` names. */
#include <cupva_device.h>

VMEM(A, int32_t, type);
VMEM(A, int64_t, a, 64);
VMEM(B, int64_t, b, 64);
VMEM(C, int64_t, c, 64);
VMEM(A, int32_t, count);
VMEM(B, int64_t, found, 40, 64);

template <typename R> static R lanes(const int64_t *from)
{
    R result{};
    for (int i = 0; i < pva_elementsof(R); i++)
        pva::set_lane(result, i, from[i]);
    return result;
}

template <typename R> static void keep(const R &value)
{
    for (int i = 0; i < pva_elementsof(R); i++)
        found[count][i] = extract(value, i);
    count++;
}

template <typename R> static void all()
{
    const R x = lanes<R>(a), y = lanes<R>(b), z = lanes<R>(c);
    const R shift = z & 7;
    keep(x + y);
    keep(x - y);
    keep(x * y);
    keep(x & y);
    keep(x | y);
    keep(x ^ y);
    keep(~x);
    keep(-x);
    keep(x << shift);
    keep(x >> shift);
    keep(x == y);
    keep(x != y);
    keep(x < y);
    keep(x <= y);
    keep(x > y);
    keep(x >= y);
    keep(x && y);
    keep(x || y);
    keep(!x);
    keep(dvmin(x, y));
    keep(dvmax(x, y));
    keep(dvabsdif(x, y));
    keep(dvabs(x));
    keep(dvadd3(x, y, z));
    keep(dvmux(z, x, y));
    keep(dvclamp(x, dvmin(y, z), dvmax(y, z)));
    keep(dvsra(x, shift));
    keep(dvsll(x, shift));
    keep(vmin(x, 5));
    keep(x + 1000000);
    keep(3 - x);
    R step = x;
    step += y;
    step <<= 1;
    keep(step);
    found[count++][0] = vsumr_s(x);
}

CUPVA_VPU_MAIN()
{
    switch (type) {
    case 0: all<vcharx>(); break;
    case 1: all<dvcharx>(); break;
    case 2: all<vshortx>(); break;
    case 3: all<dvshortx>(); break;
    case 4: all<vintx>(); break;
    default: all<dvintx>();
    }
    return 0;
}
