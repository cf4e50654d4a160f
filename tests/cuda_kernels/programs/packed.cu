/* Launches in a kernel with the arguments as bytes, and NVCC_APPEND_FLAGS. */
#include <cstdio>
#include <cstring>

__global__ void child(char a, double b, int *out, short c) { out[threadIdx.x] = a + (int)b + c + (int)threadIdx.x; }
template <class T> __global__ void other(T *out) { out[threadIdx.x] += 1000; }
__global__ void silent() {}

__global__ void parent(int *out, cudaError_t *errors)
{
    struct Arguments {
        char a;
        double b;
        int *out;
        short c;
    } arguments = {1, 2.5, out, 3};
    void *bytes = cudaGetParameterBuffer(64, sizeof arguments);
    memcpy(bytes, &arguments, sizeof arguments);
    errors[0] = cudaLaunchDevice((void *)child, bytes, dim3(1), dim3(4), 0, 0);
    bytes = cudaGetParameterBuffer(64, sizeof out);
    memcpy(bytes, &out, sizeof out);
    errors[1] = cudaLaunchDevice((void *)other<int>, bytes, dim3(1), dim3(2), 0, 0);
    errors[2] = cudaLaunchDevice((void *)silent, nullptr, dim3(1), dim3(1), 0, 0);
    errors[3] = cudaLaunchDevice((void *)&errors[3], cudaGetParameterBuffer(64, 8), dim3(1), dim3(1), 0, 0);
}

int main()
{
    int *out;
    cudaError_t *errors;
    cudaMallocManaged(&out, 4 * sizeof *out);
    cudaMallocManaged(&errors, 4 * sizeof *errors);
    other<int><<<1, 2>>>(out); /* so that there is one of int */
    parent<<<1, 1>>>(out, errors);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 4; i++)
        printf("%d %s\n", out[i], cudaGetErrorName(errors[i]));
    return 0;
}
