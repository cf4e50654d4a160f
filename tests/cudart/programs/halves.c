/* The conversions of cuda_fp16.h from C: every half there and back. */
#include <cuda_fp16.h>
#include <stdio.h>

int main(void) {
    unsigned bits, wrong = 0;
    for (bits = 0; bits < 0x7c00; ++bits) {
        half h = __ushort_as_half((unsigned short)bits);
        wrong += __half_as_ushort(__float2half(__half2float(h))) != bits;
    }
    printf("%u %u %g\n", wrong, (unsigned)sizeof(half), (double)__half2float(__float2half(0.1f)));
    return 0;
}
