// Launches that are waited for one by one, beside work of other streams.
#include <cstdio>

__global__ void count(int *n) { ++*n; }
__global__ void spin(volatile int *go, int *ended)
{
    while (!*go)
        ;
    *ended = 1;
}
__global__ void parent(int *n)
{
    count<<<1, 1>>>(n);
}
__global__ void broken(int *n) { n[1 << 28] = 1; }

int main()
{
    int *n, *go, *ended, wrong = 0;
    cudaStream_t own, other;
    cudaMallocManaged(&n, sizeof *n);
    cudaMallocManaged(&go, sizeof *go);
    cudaMallocManaged(&ended, sizeof *ended);
    *n = *go = *ended = 0;
    cudaStreamCreate(&own);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    for (int i = 1; i <= 3000; i++) {
        cudaStream_t stream = i % 3 == 0 ? own : nullptr;
        count<<<1, 1, 0, stream>>>(n);
        int status = i % 2 ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream);
        wrong += status != 0 || *(volatile int *)n != i;
        if (i % 7 == 0)
            wrong += cudaStreamQuery(stream) != cudaSuccess;
    }
    printf("loop %d %d\n", *n, wrong);

    spin<<<1, 1, 0, other>>>(go, ended);
    count<<<1, 1>>>(n);
    int status = cudaStreamSynchronize(nullptr);
    printf("one stream %d %d %d %d\n", status, *n, *(volatile int *)ended, cudaStreamQuery(other));
    count<<<1, 1>>>(n);
    *go = 1;
    status = cudaDeviceSynchronize();
    printf("all %d %d %d\n", status, *n, *ended);

    count<<<1, 1>>>(n);
    cudaDeviceSynchronize();
    broken<<<1, 1>>>(n);
    printf("broken %d", cudaDeviceSynchronize());
    printf(" %d\n", cudaDeviceSynchronize());
    cudaDeviceReset();
    cudaMallocManaged(&n, sizeof *n);
    parent<<<1, 1>>>(n);
    printf("parent %d\n", cudaDeviceSynchronize());
}
