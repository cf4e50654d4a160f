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
    // Scales: doubles of many sizes, in both directions and both ways at the ends; then those of all codes.
    for (int exponent = -1040; exponent < 1024; exponent++)
        for (double fraction : {1.0, 1.0 + 1e-15, 1.7})
            for (cudaRoundMode rounding : {cudaRoundZero, cudaRoundPosInf})
                for (__nv_saturation_t saturate : {__NV_NOSAT, __NV_SATFINITE})
                    fputc(__nv_cvt_double_to_e8m0(exponent % 2 ? ldexp(-fraction, exponent) : ldexp(fraction, exponent), saturate, rounding), stdout);
    for (int code = 0; code < 256; code++) {
        __nv_fp8_e8m0 scale;
        scale.__x = static_cast<__nv_fp8_storage_t>(code);
        float value = static_cast<float>(scale);
        fwrite(&value, sizeof value, 1, stdout);
    }
    __nv_fp8x4_e8m0 scales(float4{3.0f, 0.0f, INFINITY, NAN});
    float4 powers = static_cast<float4>(scales);
    printf("%08x %g %g %02x %02x %02x %lld\n", scales.__x, powers.x, powers.z, __nv_fp8_e8m0((1ll << 53) + 1).__x,
           __nv_fp8_e8m0(-8).__x, __nv_cvt_float_to_e8m0(INFINITY, __NV_NOSAT, cudaRoundZero),
           static_cast<long long>(__nv_fp8_e8m0(1e30)));
    return 0;
}
