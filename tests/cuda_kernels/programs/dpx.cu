// Largest and smallest of sums and of three, of words and their halves.
#include <cstdio>

#define OF_THREE(of)                                                                               \
    of(viaddmax) of(viaddmin) of(vimax3) of(vimin3)
#define KINDS(of, name) of(name, s32) of(name, s32_relu) of(name, u32) of(name, s16x2) of(name, s16x2_relu) of(name, u16x2)
#define VALUE(name, kind) out[at++] = __##name##_##kind(a, b, c);
#define VALUES(name) KINDS(VALUE, name)
#define PRINT(name, kind) printf(#name "_" #kind " %x\n", out[at++]);
#define PRINTS(name) KINDS(PRINT, name)

#define OF_TWO(of) of(vimax_s32_relu) of(vimin_s32_relu) of(vimax_s16x2_relu) of(vimin_s16x2_relu)
#define VALUE_OF_TWO(name) out[at++] = __##name(a, b);
#define PRINT_OF_TWO(name) printf(#name " %x\n", out[at++]);

#define WITH_PREDICATE(of) of(vibmax_s32) of(vibmin_s32) of(vibmax_u32) of(vibmin_u32)
#define VALUE_AND_FIRST(name) out[at++] = __##name(a, b, &first), out[at++] = first;
#define PRINT_AND_FIRST(name) printf(#name " %x %x\n", out[at], out[at + 1]), at += 2;
#define WITH_TWO(of) of(vibmax_s16x2) of(vibmin_s16x2) of(vibmax_u16x2) of(vibmin_u16x2)
#define VALUE_AND_BOTH(name) out[at++] = __##name(a, b, &high, &low), out[at++] = high, out[at++] = low;
#define PRINT_AND_BOTH(name) printf(#name " %x %x %x\n", out[at], out[at + 1], out[at + 2]), at += 3;

__global__ void dpx(unsigned a, unsigned b, unsigned c, unsigned *out)
{
    int at = 0;
    bool first, high, low;
    OF_THREE(VALUES)
    OF_TWO(VALUE_OF_TWO)
    WITH_PREDICATE(VALUE_AND_FIRST)
    WITH_TWO(VALUE_AND_BOTH)
}

int main(int argc, char **argv)
{
    unsigned *out, a, b, c;
    cudaMallocManaged(&out, 64 * sizeof *out);
    if (argc < 4 || sscanf(argv[1], "%x", &a) != 1 || sscanf(argv[2], "%x", &b) != 1 || sscanf(argv[3], "%x", &c) != 1)
        return 1;
    dpx<<<1, 1>>>(a, b, c, out);
    cudaDeviceSynchronize();
    int at = 0;
    OF_THREE(PRINTS)
    OF_TWO(PRINT_OF_TWO)
    WITH_PREDICATE(PRINT_AND_FIRST)
    WITH_TWO(PRINT_AND_BOTH)
    return 0;
}
