// Memory that is written as one type and read as another, by short vectors and halves.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>

__global__ void look(half2 *p, const int4 *a, float *o, const float4 *f, unsigned *u, __nv_bfloat16 *b)
{
    float before = __low2float(p[0]);
    *(int4 *)p = a[0];
    o[0] = before * 10 + __low2float(p[0]);
    unsigned old = u[0];
    *(float4 *)u = f[0];
    o[1] = u[0] == old;
    float first = __bfloat162float(b[1]);
    *(uint2 *)b = make_uint2(0x40000000u, 0);
    o[2] = first * 10 + __bfloat162float(b[1]);
    __shared__ float4 tile[2];
    float *flat = reinterpret_cast<float *>(tile);
    tile[1] = make_float4(1, 2, 3, 4);
    flat[5] = 7;
    o[3] = tile[1].y * 10 + flat[6];
}

int main()
{
    char *memory;
    cudaMallocManaged(&memory, 256);
    int4 *a = reinterpret_cast<int4 *>(memory);
    float4 *f = reinterpret_cast<float4 *>(memory + 32);
    float *o = reinterpret_cast<float *>(memory + 64);
    *a = make_int4(0x3c003c00, 0, 0, 0); // halves that are 1
    *f = make_float4(1, 2, 3, 4);
    look<<<1, 1>>>(reinterpret_cast<half2 *>(memory + 128), a, o, f, reinterpret_cast<unsigned *>(memory + 160),
                   reinterpret_cast<__nv_bfloat16 *>(memory + 192));
    cudaDeviceSynchronize();
    printf("%g %g %g %g\n", o[0], o[1], o[2], o[3]);
    return 0;
}
