// Launches that are waited for one by one, beside work of other streams.
#include <cstdio>

__global__ void count(int *n) { ++*n; }
__global__ void spin(volatile int *go, int *ended)
{
    while (!*go)
        ;
    *ended = 1;
}
__global__ void halve(int *leaves, int threads)
{
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (threads == 1)
        atomicAdd(leaves, 1);
    else
        halve<<<1, threads / 2>>>(leaves, threads / 2);
    cudaDeviceSynchronize();
}
__global__ void add(int *to) { to[threadIdx.x] += threadIdx.x; }
__global__ void streams(int *from, int *to, int *wrong)
{
    if (threadIdx.x != 0)
        return;
    int *own = from + 64 * blockIdx.x, *copied = to + 64 * blockIdx.x, status = 0, device = -1;
    cudaStream_t stream;
    cudaEvent_t event;
    status |= cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    status |= cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    add<<<1, 64, 0, stream>>>(own);
    status |= cudaEventRecord(event, stream);
    status |= cudaStreamWaitEvent(stream, event, 0);
    status |= cudaMemcpyAsync(copied, own, 256, cudaMemcpyDeviceToDevice, stream);
    status |= cudaMemsetAsync(own, 0, 128, stream);
    status |= cudaGetDevice(&device) | cudaGetLastError();
    status |= cudaStreamDestroy(stream) | cudaEventDestroy(event);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++)
        status |= copied[i] != i + 1 || own[i] != (i < 32 ? 0 : i + 1);
    if (status != 0 || device != 0)
        atomicAdd(wrong, 1);
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

    *n = 0;
    halve<<<300, 64>>>(n, 64); // enough for all cores
    status = cudaDeviceSynchronize();
    printf("children %d %d\n", status, *n);
    const int blocks = 100;
    int *from, *to;
    cudaMallocManaged(&from, blocks * 256);
    cudaMallocManaged(&to, blocks * 256);
    for (int i = 0; i < blocks * 64; i++)
        from[i] = 1;
    *n = 0;
    streams<<<blocks, 64>>>(from, to, n);
    status = cudaDeviceSynchronize();
    printf("streams of kernels %d %d\n", status, *n);

    count<<<1, 1>>>(n);
    cudaDeviceSynchronize();
    broken<<<1, 1>>>(n);
    printf("broken %d", cudaDeviceSynchronize());
    printf(" %d\n", cudaDeviceSynchronize());
}
