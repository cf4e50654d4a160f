// Intrinsics of halves, in a kernel: bits of the results.
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>

__global__ void all(const unsigned short *x, int n, unsigned short *out, int *whole) {
    int i = threadIdx.x;
    if (i >= n)
        return;
    __half a = __ushort_as_half(x[i]), b = __ushort_as_half(x[(i + 1) % n]),
           c = __ushort_as_half(x[(i + 2) % n]);
    __half2 pair = __hfma2(__halves2half2(a, b), __halves2half2(b, c), __half2half2(c));
    out[4 * i] = __half_as_ushort(__hfma(a, b, c));
    out[4 * i + 1] = __half_as_ushort(__high2half(pair));
    out[4 * i + 2] = __half_as_ushort(__hmax(a, b));
    out[4 * i + 3] = __half_as_ushort(__hmin(a, b));
    whole[5 * i] = __half2int_rn(a), whole[5 * i + 1] = __half2int_rz(a);
    whole[5 * i + 2] = __half2int_rd(a), whole[5 * i + 3] = __half2int_ru(a);
    whole[5 * i + 4] = __hisinf(a);
}

int main(int argc, char **argv) {
    int n = argc - 1, *whole;
    unsigned short *x, *out;
    cudaMallocManaged(&x, n * 2), cudaMallocManaged(&out, n * 8), cudaMallocManaged(&whole, n * 20);
    for (int i = 0; i < n; i++)
        x[i] = static_cast<unsigned short>(atoi(argv[i + 1]));
    all<<<1, 256>>>(x, n, out, whole);
    cudaDeviceSynchronize();
    for (int i = 0; i < 4 * n; i++)
        printf("%d ", out[i]);
    for (int i = 0; i < 5 * n; i++)
        printf("%d ", whole[i]);
    return 0;
}
