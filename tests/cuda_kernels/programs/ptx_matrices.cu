/* mma and ldmatrix of inline PTX: "shape: a row by row; b row by row; c; d" of one warp. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
#include <cstdio>

template <class T> __device__ T element(int row, int column, int salt)
{
    return T(static_cast<float>((row * 7 + column * 3 + salt) % 11 - 5));
}

template <class T, int M, int K> __device__ uint32_t part(int row, int column, int salt)
{
    T values[4 / sizeof(T)];
    for (unsigned i = 0; i < 4 / sizeof(T); i++)
        values[i] = element<T>(row, column + static_cast<int>(i), salt);
    uint32_t bits;
    memcpy(&bits, values, sizeof bits);
    return bits;
}

/* Lane l: row l / 4, and l % 4 of what a register holds along k (PTX ISA, figures of the fragments). */
template <class T, int K> __device__ void fragments(uint32_t (&a)[4], uint32_t (&b)[2])
{
    const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
    const int held = 4 / static_cast<int>(sizeof(T)), step = 4 * held;
    a[0] = part<T, 16, K>(g, t * held, 1);
    a[1] = part<T, 16, K>(g + 8, t * held, 1);
    a[2] = part<T, 16, K>(g, t * held + step, 1);
    a[3] = part<T, 16, K>(g + 8, t * held + step, 1);
    b[0] = part<T, 8, K>(g, t * held, 2); /* b's column g */
    b[1] = part<T, 8, K>(g, t * held + step, 2);
}

template <class T> __device__ void say(const char *shape, int k, const T *d, int salt)
{
    const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
    for (int i = 0; i < 4; i++)
        printf("%s %d %d %d %g\n", shape, k, g + 8 * (i / 2), 2 * t + i % 2, static_cast<double>(d[i]));
    (void)salt;
}

__global__ void products()
{
    uint32_t a[4], b[2];
    float d[4];
    int whole[4];
    fragments<__half, 16>(a, b);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%10,%11,%12,%13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(1.0f), "f"(1.0f), "f"(1.0f),
                   "f"(1.0f));
    say("f16", 16, d, 0);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(1.0f));
    say("f16", 8, d, 0);
    uint32_t halves[2];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%8};"
                 : "=r"(halves[0]), "=r"(halves[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0x3c003c00));
    for (int i = 0; i < 4; i++)
        d[i] = __half2float(reinterpret_cast<__half *>(halves)[i]);
    say("half", 16, d, 0);
    fragments<__nv_bfloat16, 16>(a, b);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%10,%10,%10,%10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(1.0f));
    say("bf16", 16, d, 0);
    fragments<float, 8>(a, b);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%10,%10,%10,%10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(1.0f));
    say("tf32", 8, d, 0);
    fragments<signed char, 32>(a, b);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%10,%10,%10,%10};"
                 : "=r"(whole[0]), "=r"(whole[1]), "=r"(whole[2]), "=r"(whole[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(1));
    say("s8", 32, whole, 0);
}

__global__ void loads()
{
    __shared__ __align__(16) uint16_t tile[32][8];
    for (int i = 0; i < 8; i++)
        tile[threadIdx.x][i] = static_cast<uint16_t>(threadIdx.x * 8 + i);
    __syncwarp();
    uint32_t x[4], y, at = static_cast<uint32_t>(__cvta_generic_to_shared(tile[threadIdx.x]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(y) : "r"(at));
    printf("lane %u %x %x %x %x %x\n", threadIdx.x, x[0], x[1], x[2], x[3], y);
}

int main()
{
    products<<<1, 32>>>();
    loads<<<1, 32>>>();
    fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
