// Numbers of 16 bits from integers and as integers, in every direction: bits of the results.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>

#define FROM(T, name, a)                                                                          \
    half_bits(__##name##2half_rn(a)), half_bits(__##name##2half_rz(a)),                            \
        half_bits(__##name##2half_rd(a)), half_bits(__##name##2half_ru(a)),                        \
        brain_bits(__##name##2bfloat16_rn(a)), brain_bits(__##name##2bfloat16_rz(a)),              \
        brain_bits(__##name##2bfloat16_rd(a)), brain_bits(__##name##2bfloat16_ru(a))
#define PRINT_FROM(T, name)                                                                       \
    {                                                                                              \
        T a = static_cast<T>(value);                                                               \
        unsigned short all[] = {FROM(T, name, a)};                                                 \
        printf(#name);                                                                             \
        for (unsigned short one : all)                                                             \
            printf(" %u", one);                                                                    \
        printf("\n");                                                                              \
    }
#define PRINT_TO(name)                                                                            \
    printf(#name " %lld %lld %lld %lld %lld %lld %lld %lld\n", (long long)__half2##name##_rn(h),   \
           (long long)__half2##name##_rz(h), (long long)__half2##name##_rd(h),                     \
           (long long)__half2##name##_ru(h), (long long)__bfloat162##name##_rn(b),                 \
           (long long)__bfloat162##name##_rz(b), (long long)__bfloat162##name##_rd(b),             \
           (long long)__bfloat162##name##_ru(b));

__host__ __device__ unsigned half_bits(__half h) { return __half_as_ushort(h); }
__host__ __device__ unsigned brain_bits(__nv_bfloat16 h) { return __bfloat16_as_ushort(h); }

__global__ void from(unsigned long long value)
{
    PRINT_FROM(int, int)
    PRINT_FROM(unsigned int, uint)
    PRINT_FROM(short, short)
    PRINT_FROM(unsigned short, ushort)
    PRINT_FROM(long long, ll)
    PRINT_FROM(unsigned long long, ull)
}

__global__ void to(unsigned short bits)
{
    __half h = __ushort_as_half(bits);
    __nv_bfloat16 b = __ushort_as_bfloat16(bits);
    PRINT_TO(int)
    PRINT_TO(uint)
    PRINT_TO(short)
    PRINT_TO(ushort)
    PRINT_TO(ll)
    PRINT_TO(ull)
    printf("char %d %d %d %d\n", __half2char_rz(h), __half2uchar_rz(h), __bfloat162char_rz(b),
           __bfloat162uchar_rz(b));
}

__global__ void floats(float a)
{
    printf("float %u %u %u %u\n", brain_bits(__float2bfloat16_rn(a)), brain_bits(__float2bfloat16_rz(a)),
           brain_bits(__float2bfloat16_rd(a)), brain_bits(__float2bfloat16_ru(a)));
}

__global__ void complex(unsigned short a, unsigned short b, unsigned short c, unsigned short d)
{
    __half2 x = make_half2(__ushort_as_half(a), __ushort_as_half(b));
    __half2 y = make_half2(__ushort_as_half(c), __ushort_as_half(d));
    __half2 sum = __hcmadd(x, y, make_half2(__ushort_as_half(b), __ushort_as_half(c)));
    printf("complex %u %u\n", half_bits(sum.x), half_bits(sum.y));
}

// Lines of what to do: "from NUMBER", "to BITS", "float BITS", "complex BITS BITS BITS BITS".
int main()
{
    char what[16];
    while (scanf("%15s", what) == 1) {
        unsigned long long n;
        unsigned a, b, c, d;
        switch (what[0]) {
        case 'f':
            if (what[1] == 'r' && scanf("%llu", &n) == 1) {
                from<<<1, 1>>>(n);
            } else if (what[1] == 'l' && scanf("%u", &a) == 1) {
                float value = __uint_as_float(a);
                floats<<<1, 1>>>(value);
            }
            break;
        case 't':
            if (scanf("%u", &a) == 1)
                to<<<1, 1>>>(static_cast<unsigned short>(a));
            break;
        default:
            if (scanf("%u %u %u %u", &a, &b, &c, &d) == 4)
                complex<<<1, 1>>>(a, b, c, d);
        }
        cudaDeviceSynchronize();
    }
    return 0;
}
