// Numbers of eight bits: a kernel converts halves, singles and pairs; numbers go to the standard output as bytes.
#include <cstdio>
#include <cuda_fp8.h>
#include <vector>

static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e5m2) == 2 && sizeof(__nv_fp8x4_e4m3) == 4, "");

__global__ void from_halves(__nv_fp8_storage_t *to, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
    __half_raw raw;
    raw.x = static_cast<unsigned short>(bits);
    to[bits] = __nv_cvt_halfraw_to_fp8(raw, saturate, kind);
}

__global__ void to_halves(unsigned short *to)
{
    __nv_fp8_storage_t bits = static_cast<__nv_fp8_storage_t>(threadIdx.x);
    to[threadIdx.x] = __nv_cvt_fp8_to_halfraw(bits, __NV_E4M3).x;
    to[256 + threadIdx.x] = __nv_cvt_fp8_to_halfraw(bits, __NV_E5M2).x;
}

int main(int argc, char **argv)
{
    __nv_fp8_storage_t *eights;
    unsigned short *halves;
    cudaMallocManaged(&eights, 65536);
    cudaMallocManaged(&halves, 512 * sizeof *halves);
    for (__nv_fp8_interpretation_t kind : {__NV_E4M3, __NV_E5M2})
        for (__nv_saturation_t saturate : {__NV_NOSAT, __NV_SATFINITE}) {
            from_halves<<<256, 256>>>(eights, saturate, kind);
            cudaDeviceSynchronize();
            fwrite(eights, 1, 65536, stdout);
        }
    to_halves<<<1, 256>>>(halves);
    cudaDeviceSynchronize();
    fwrite(halves, 1, 1024, stdout);
    // Doubles between two numbers and at the ends, and what the types do.
    for (double value : {0.0009765625, 0.00097656250001, 464.0, 464.0001, 61439.9, 61440.0, -1e300, 17.0, 19.0, -0.0})
        for (__nv_fp8_interpretation_t kind : {__NV_E4M3, __NV_E5M2})
            fputc(__nv_cvt_double_to_fp8(value, __NV_NOSAT, kind), stdout);
    __nv_fp8x4_e4m3 four(float4{1.0f, -2.5f, 1000.0f, 0.3f});
    float4 back = static_cast<float4>(four);
    __nv_fp8x2_e5m2 two(__floats2half2_rn(3.0f, -70000.0f));
    printf("%08x %g %g %g %g %04x %d %d %d\n", four.__x, back.x, back.y, back.z, back.w, two.__x,
           int(__nv_fp8_e4m3(-3.9f)), int(static_cast<unsigned char>(__nv_fp8_e5m2(1000))),
           static_cast<bool>(__nv_fp8_e4m3(-0.0f)));
    return 0;
}
