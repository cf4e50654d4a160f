/* Inline PTX: a line for each pair of numbers. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

__device__ uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t d;
    asm volatile("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}

template <class T> __device__ void never(T x)
{
    asm volatile("mma.sync.aligned.m16n8k8.f32 %0, %1;" ::"r"(x), "r"(x));
}

__global__ void all(const uint32_t *a, const uint32_t *b, const float *f, int64_t (*out)[12])
{
    int i = threadIdx.x;
    uint32_t x = a[i], y = b[i], r, s;
    int32_t n;
    uint64_t wide;
    asm("{ .reg .u32 t;\n\t"
        "  and.b32 t, %1, %2;\n\t"
        "  xor.b32 %0, t, 0xff; }"
        : "=r"(r)
        : "r"(x), "r"(y));
    out[i][0] = r;
    out[i][1] = permuted(x, y, x >> 3);
    asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(n) : "f"(f[i]));
    out[i][2] = n;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(n) : "f"(f[i]));
    out[i][3] = n;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(x), "r"(y), "r"(7u));
    out[i][4] = r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 31), "r"(5u));
    out[i][5] = r;
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    out[i][6] = r;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(9u));
    out[i][7] = r;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(x), "r"(y));
    out[i][8] = (int64_t)wide;
    asm volatile("mov.u32%0, %%laneid; mov.u32 %1, %%tid.x;" : "=r"(r), "=r"(s));
    out[i][9] = r * 1000 + s;
    asm("shr.s32 %0, %1, %2;" : "=r"(n) : "r"((int32_t)x), "r"(y & 63));
    out[i][10] = n;
    asm("ld.global.nc.u32 %0, [%1+4];" : "=r"(r) : "l"(a + i));
    out[i][11] = r;
    asm volatile("bar.sync 0;");
    asm volatile("membar.gl;" ::: "memory");
}

int main()
{
    constexpr int N = 96;
    uint32_t *a, *b;
    float *f;
    int64_t (*out)[12];
    cudaMallocManaged(&a, (N + 1) * sizeof *a);
    cudaMallocManaged(&b, N * sizeof *b);
    cudaMallocManaged(&f, N * sizeof *f);
    cudaMallocManaged(&out, N * sizeof *out);
    srand(3);
    for (int i = 0; i < N; i++) {
        a[i] = (uint32_t)rand() * 2654435761u;
        b[i] = (uint32_t)rand() * 40503u;
        f[i] = (float)(rand() % 6000 - 3000) / 16;
    }
    a[N] = 5;
    all<<<1, N>>>(a, b, f, out);
    fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < N; i++) {
        printf("%u %u %.9g %u", a[i], b[i], f[i], a[i + 1]);
        for (int64_t value : out[i])
            printf(" %lld", (long long)value);
        printf("\n");
    }
    return 0;
}
