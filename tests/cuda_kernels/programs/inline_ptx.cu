// The inline PTX instructions that are known, on values of the command line: f a b c.
#include <cstdio>
#include <cstdlib>

__global__ void ask(float f, int a, int b, int c, const float4 *four, int *out, float4 *read)
{
    int x, y;
    unsigned z;
    asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(x) : "f"(f));
    out[0] = x;
    asm volatile("cvt.rn.f32.s8 %0, %1;" : "=f"(read->x) : "r"(a));
    out[1] = (int)read->x;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(z) : "r"(a), "r"(b), "r"(c));
    out[2] = (int)z;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(x) : "r"(a), "r"(b), "r"(c));
    out[3] = x;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    out[4] = y;
    asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(read->x), "=f"(read->y), "=f"(read->z), "=f"(read->w)
        : "l"(four));
}

int main(int, char **argv)
{
    float4 *four;
    int *out;
    cudaMallocManaged(&four, 2 * sizeof *four);
    cudaMallocManaged(&out, 5 * sizeof *out);
    four[0] = make_float4(1, 2, 3, 4);
    ask<<<1, 1>>>(atof(argv[1]), atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), four, out, four + 1);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    for (int i = 0; i < 5; i++)
        printf("%d ", out[i]);
    printf("%g %g %g %g\n", four[1].x, four[1].y, four[1].z, four[1].w);
}
