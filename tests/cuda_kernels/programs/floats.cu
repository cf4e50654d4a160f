/* Functions of halves and bfloat16: bits of the results, for all bits or for pairs. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void halves(unsigned short (*out)[12])
{
    unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
    __half a = __ushort_as_half(static_cast<unsigned short>(bits));
    const __half found[11] = {hsqrt(a), hfloor(a), hceil(a), htrunc(a), hrint(a), hrcp(a), hexp2(a),
                              __hadd_sat(a, __float2half(0.25f)), __hmax_nan(a, __float2half(1)),
                              __float2half_rd(__half2float(a) * 0.3f),
                              __float2half_rz(__half2float(a) * 0.3f)};
    for (int i = 0; i < 11; i++)
        out[bits][i] = __half_as_ushort(found[i]);
    out[bits][11] = __half2ushort_rn(a);
}

__global__ void bfloats(const unsigned short *x, int n, unsigned short (*out)[8])
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 a = __ushort_as_bfloat16(x[i]), b = __ushort_as_bfloat16(x[(i + 1) % n]),
                  c = __ushort_as_bfloat16(x[(i + 2) % n]);
    __nv_bfloat162 pair = __hfma2(__halves2bfloat162(a, b), __bfloat162bfloat162(b), __bfloat162bfloat162(c));
    const __nv_bfloat16 found[7] = {a + b, a - b, a * b, a / b, __high2bfloat16(pair), hsqrt(__habs(a)),
                                    __float2bfloat16(static_cast<float>(a) * 1.001f)};
    for (int k = 0; k < 7; k++)
        out[i][k] = __bfloat16_as_ushort(found[k]);
    out[i][7] = static_cast<unsigned short>((a < b) | (a == b) << 1 | __hisnan(a) << 2);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        unsigned short (*out)[12];
        cudaMallocManaged(&out, 65536 * sizeof *out);
        halves<<<256, 256>>>(out);
        cudaDeviceSynchronize();
        fwrite(out, sizeof *out, 65536, stdout);
        return 0;
    }
    int n = argc - 1;
    unsigned short *x, (*out)[8];
    cudaMallocManaged(&x, n * sizeof *x);
    cudaMallocManaged(&out, n * sizeof *out);
    for (int i = 0; i < n; i++)
        x[i] = static_cast<unsigned short>(atoi(argv[i + 1]));
    bfloats<<<(n + 63) / 64, 64>>>(x, n, out);
    cudaDeviceSynchronize();
    fwrite(out, sizeof *out, n, stdout);
    return 0;
}
