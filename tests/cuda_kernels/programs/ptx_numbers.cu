/* Inline PTX with numbers: "instruction: operands = result" for each, in hexadecimal. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ unsigned long long bits_of(uint32_t x) { return x; }
__device__ unsigned long long bits_of(uint64_t x) { return x; }
__device__ unsigned long long bits_of(float x) { return __float_as_uint(x); }
__device__ unsigned long long bits_of(uint16_t x) { return x; }

#define SAY1(text, a, d) printf("%s: %llx = %llx\n", text, bits_of(a), bits_of(d))
#define SAY2(text, a, b, d) printf("%s: %llx %llx = %llx\n", text, bits_of(a), bits_of(b), bits_of(d))
#define SAY3(text, a, b, c, d) printf("%s: %llx %llx %llx = %llx\n", text, bits_of(a), bits_of(b), bits_of(c), bits_of(d))

#define ONE(text, T, k, D, kd, a)                                                                                      \
    {                                                                                                                  \
        D d;                                                                                                           \
        asm(text " %0, %1;" : "=" kd(d) : k(a));                                                                       \
        SAY1(text, a, d);                                                                                              \
    }
#define TWO(text, k, D, kd, a, b)                                                                                      \
    {                                                                                                                  \
        D d;                                                                                                           \
        asm(text " %0, %1, %2;" : "=" kd(d) : k(a), k(b));                                                             \
        SAY2(text, a, b, d);                                                                                           \
    }
#define THREE(text, k, D, kd, a, b, c)                                                                                 \
    {                                                                                                                  \
        D d;                                                                                                           \
        asm(text " %0, %1, %2, %3;" : "=" kd(d) : k(a), k(b), k(c));                                                   \
        SAY3(text, a, b, c, d);                                                                                        \
    }
#define WORDS(text) TWO(text, "r", uint32_t, "r", x, y)
#define WORDS3(text) THREE(text, "r", uint32_t, "r", x, y, z)
#define WORD(text) ONE(text, uint32_t, "r", uint32_t, "r", x)
#define REALS(text) TWO(text, "f", float, "f", f, g)
#define HALVES(text) TWO(text, "r", uint32_t, "r", h, i)

__global__ void words(const uint32_t *in)
{
    uint32_t x = in[3 * threadIdx.x], y = in[3 * threadIdx.x + 1], z = in[3 * threadIdx.x + 2];
    WORDS("add.u32") WORDS("sub.s32") WORDS("mul.lo.u32") WORDS("mul.hi.s32") WORDS("add.sat.s32") WORDS("sub.sat.s32")
    WORDS("min.s32") WORDS("max.u32") WORDS("mul24.lo.s32") WORDS("mul24.hi.u32") WORDS("bmsk.clamp.b32")
    WORDS("bmsk.wrap.b32") WORDS("szext.clamp.s32") WORDS("shl.b32") WORDS("shr.u32") WORDS("shr.s32")
    WORDS("set.lt.u32.s32") WORDS("add.u16x2") WORDS("min.s16x2") WORDS("max.u16x2") WORDS("min.relu.s16x2")
    WORDS3("mad.lo.s32") WORDS3("mad24.lo.u32") WORDS3("sad.s32") WORDS3("dp4a.u32.s32") WORDS3("dp2a.lo.s32.s32")
    WORDS3("dp2a.hi.u32.u32") WORDS3("shf.l.wrap.b32") WORDS3("shf.r.clamp.b32") WORDS3("prmt.b32.f4e")
    WORDS3("prmt.b32.b4e") WORDS3("prmt.b32.rc16") WORDS3("prmt.b32.ecl") WORDS3("slct.u32.s32")
    WORDS3("vadd.u32.u32.u32.add") WORDS3("vabsdiff.s32.s32.s32.sat.max") WORDS3("vshr.u32.u32.u32.clamp.add")
    WORD("abs.s32") WORD("neg.s32") WORD("not.b32") WORD("cnot.b32") WORD("popc.b32") WORD("clz.b32") WORD("brev.b32")
    WORD("bfind.s32") WORD("bfind.shiftamt.u32") WORD("cvt.s32.s8") WORD("cvt.sat.u8.s32") WORD("cvt.u16.u32")
    WORD("cvt.sat.s16.u32")
    uint64_t wide = (uint64_t)y << 32 | z;
    ONE("popc.b64", uint64_t, "l", uint32_t, "r", wide)
    ONE("clz.b64", uint64_t, "l", uint32_t, "r", wide)
    TWO("mul.hi.u64", "l", uint64_t, "l", wide, wide)
    TWO("mul.wide.s32", "r", uint64_t, "l", x, y)
    TWO("div.s32", "r", uint32_t, "r", x, y)
    TWO("rem.s32", "r", uint32_t, "r", x, y)
    TWO("div.s32", "r", uint32_t, "r", x, (y & 1) - 1)
    TWO("rem.u32", "r", uint32_t, "r", x, (y & 3))
}

__global__ void reals(const float *in)
{
    float f = in[2 * threadIdx.x], g = in[2 * threadIdx.x + 1];
    REALS("add.rn.f32") REALS("add.rz.f32") REALS("mul.rm.f32") REALS("div.rp.f32") REALS("min.f32") REALS("max.NaN.f32")
    REALS("copysign.f32") REALS("add.sat.f32") REALS("mul.ftz.f32") REALS("add.ftz.f32")
    ONE("cvt.rzi.f32.f32", float, "f", float, "f", f)
    ONE("cvt.rn.f16.f32", float, "f", uint16_t, "h", f)
    ONE("cvt.rz.f16.f32", float, "f", uint16_t, "h", f)
    ONE("cvt.rna.tf32.f32", float, "f", uint32_t, "r", f)
    ONE("cvt.rzi.s64.f32", float, "f", uint64_t, "l", f)
    ONE("cvt.rpi.u32.f32", float, "f", uint32_t, "r", f)
    TWO("cvt.rn.f16x2.f32", "f", uint32_t, "r", f, g)
    TWO("cvt.rn.bf16x2.f32", "f", uint32_t, "r", f, g)
    uint32_t h, i;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(f), "f"(g));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(i) : "f"(g), "f"(1.5f));
    HALVES("add.f16x2") HALVES("mul.f16x2") HALVES("max.f16x2")
    THREE("fma.rn.f16x2", "r", uint32_t, "r", h, i, h)
    ONE("neg.f16x2", uint32_t, "r", uint32_t, "r", h)
}

/* 256 bits plus and times 32, with the carry from statement to statement. */
__global__ void carries(const uint32_t *in)
{
    uint32_t a[4], b[4], sum[5], rest[4], product[5] = {0, 0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        a[i] = in[8 * threadIdx.x + i], b[i] = in[8 * threadIdx.x + 4 + i];
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum[0]) : "r"(a[0]), "r"(b[0]));
    for (int i = 1; i < 4; i++)
        asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(sum[i]) : "r"(a[i]), "r"(b[i]));
    asm volatile("addc.u32 %0, 0, 0;" : "=r"(sum[4]));
    asm("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\t"
        "subc.cc.u32 %2, %6, %10;\n\tsubc.u32 %3, %7, %11;"
        : "=&r"(rest[0]), "=&r"(rest[1]), "=&r"(rest[2]), "=&r"(rest[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    asm("mad.lo.cc.u32 %0, %4, %8, 0;\n\tmadc.lo.cc.u32 %1, %5, %8, 0;\n\tmadc.lo.cc.u32 %2, %6, %8, 0;\n\t"
        "madc.lo.u32 %3, %7, %8, 0;"
        : "=&r"(product[0]), "=&r"(product[1]), "=&r"(product[2]), "=&r"(product[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]));
    asm("mad.hi.cc.u32 %0, %4, %7, %0;\n\tmadc.hi.cc.u32 %1, %5, %7, %1;\n\tmadc.hi.cc.u32 %2, %6, %7, %2;\n\t"
        "madc.hi.u32 %3, %8, %7, 0;"
        : "+r"(product[1]), "+r"(product[2]), "+r"(product[3]), "=r"(product[4])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(b[0]), "r"(a[3]));
    for (int i = 3; i >= 0; i--)
        printf("%08x", a[i]);
    printf(" ");
    for (int i = 3; i >= 0; i--)
        printf("%08x", b[i]);
    printf(" %x", sum[4]);
    for (int i = 3; i >= 0; i--)
        printf("%08x", sum[i]);
    printf(" ");
    for (int i = 3; i >= 0; i--)
        printf("%08x", rest[i]);
    printf(" ");
    for (int i = 4; i >= 0; i--)
        printf("%08x", product[i]);
    printf("\n");
}

int main(int, char **words_of)
{
    constexpr int N = 40;
    uint32_t *in;
    float *real;
    cudaMallocManaged(&in, 8 * N * sizeof *in);
    cudaMallocManaged(&real, 2 * N * sizeof *real);
    srand(5);
    const float odd[] = {0.0f, -0.0f, 1e9f, -3e9f, 65519.0f, 65520.0f, -1e-8f, 6e-8f, 1e20f, 0.1f, -0.5f, 2.5f};
    for (int i = 0; i < 8 * N; i++)
        in[i] = (uint32_t)rand() << (rand() % 3 ? 1 : 16) ^ (uint32_t)(rand() % 5 ? rand() : 0);
    for (int i = 0; i < 3 * 8; i++) /* counts, too */
        in[3 * i + 1] = (uint32_t)i * 3;
    in[6] = in[9] = in[10] = 0, in[12] = 0x80000000u, in[13] = 7;
    for (int i = 0; i < 2 * N; i++)
        real[i] = i < 12 ? odd[i] : (float)(rand() % 20000 - 10000) / 64 * (i % 3 ? 1 : 1e-4f);
    if (strcmp(words_of[1], "words") == 0)
        words<<<1, N>>>(in);
    else if (strcmp(words_of[1], "reals") == 0)
        reals<<<1, N>>>(real);
    else
        carries<<<1, N>>>(in);
    fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
