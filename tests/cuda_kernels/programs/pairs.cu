// Operators of pairs of halves and of bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>

template <class T, class P> __global__ void compute(P *out)
{
    P a(T(1.0f), T(2.0f)), b(T(3.0f), T(2.0f));
    out[0] = -a;
    out[1] = b / a;
    out[2] = a, out[2]++, ++out[2], --out[2];
    b -= a, b *= b, b += a, b /= a;
    out[3] = b;
    T one(1.0f);
    one++, --one, one--;
    out[4] = P(one, one);
    printf("%d %d %d %d %d %d\n", a == a, a == b, a != b, a < out[2], a <= b, out[2] >= +a);
}

int main()
{
    half2 *halves;
    __nv_bfloat162 *brains;
    cudaMallocManaged(&halves, 5 * sizeof *halves);
    cudaMallocManaged(&brains, 5 * sizeof *brains);
    compute<half, half2><<<1, 1>>>(halves);
    compute<__nv_bfloat16, __nv_bfloat162><<<1, 1>>>(brains);
    cudaDeviceSynchronize();
    for (int i = 0; i < 5; i++)
        printf("%g %g %g %g\n", __low2float(halves[i]), __high2float(halves[i]), __low2float(brains[i]),
               __high2float(brains[i]));
    return 0;
}
