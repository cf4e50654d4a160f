/* Arithmetic rounded down, up and towards zero: a line for each pair of numbers. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void all(const float *x, const float *y, float (*out)[12])
{
    int i = threadIdx.x;
    float a = x[i], b = y[i];
    const float found[12] = {__fadd_rd(a, b), __fadd_ru(a, b), __fadd_rz(a, b), __fsub_rd(a, b),
                             __fsub_ru(a, b), __fsub_rz(a, b), __fmul_rd(a, b), __fmul_ru(a, b),
                             __fmul_rz(a, b), __fdiv_rd(a, b), __fdiv_ru(a, b), __fdiv_rz(a, b)};
    memcpy(out[i], found, sizeof found);
}

int main()
{
    constexpr int N = 256;
    float *x, *y, (*out)[12];
    cudaMallocManaged(&x, N * sizeof *x);
    cudaMallocManaged(&y, N * sizeof *y);
    cudaMallocManaged(&out, N * sizeof *out);
    srand(7);
    for (int i = 0; i < N; i++) {
        x[i] = ((float)rand() - 1e9f) / (1 + rand() % 1000);
        y[i] = ((float)rand() - 1e9f) / (1 + rand() % 1000000);
    }
    all<<<1, N>>>(x, y, out);
    fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < N; i++) {
        printf("%a %a", (double)x[i], (double)y[i]);
        for (float value : out[i])
            printf(" %a", (double)value);
        printf("\n");
    }
    return 0;
}
