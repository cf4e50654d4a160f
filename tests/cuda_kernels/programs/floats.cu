/* Functions of halves: bits of the results, for all bits. */
#include <cuda_fp16.h>
#include <cstdio>

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

int main()
{
    unsigned short (*out)[12];
    cudaMallocManaged(&out, 65536 * sizeof *out);
    halves<<<256, 256>>>(out);
    cudaDeviceSynchronize();
    fwrite(out, sizeof *out, 65536, stdout);
    return 0;
}
