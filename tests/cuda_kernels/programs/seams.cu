/* What cuDLA applications include beside CUDA: MatX's tensors, NVTX, and TensorRT's headers, of which they
 * name nothing. */
#include <NvInfer.h>
#include <NvInferPlugin.h>
#include <cstdio>
#include <cstdlib>
#include <nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <vector>

#include "matx.h"

using namespace nvinfer1;

template <typename T, int RANK> static void permute(char **words, cudaStream_t stream)
{
    matx::index_t shape[RANK], permuted[RANK];
    int order[RANK], total = 1;
    for (int d = 0; d < RANK; d++) {
        shape[d] = atoi(words[d]);
        order[d] = atoi(words[RANK + d]);
        total *= (int)shape[d];
    }
    for (int d = 0; d < RANK; d++)
        permuted[d] = shape[order[d]];
    std::vector<T> numbers(total);
    for (int i = 0; i < total; i++)
        numbers[i] = T((float)i);
    T *from, *to;
    cudaMalloc(&from, total * sizeof(T));
    cudaMalloc(&to, total * sizeof(T));
    cudaMemcpy(from, numbers.data(), total * sizeof(T), cudaMemcpyHostToDevice);
    auto source = matx::make_tensor<T>(from, shape);
    auto target = matx::make_tensor<T>(to, permuted);
    matx::copy(target, source.Permute(order), stream);
    cudaMemcpyAsync(numbers.data(), to, total * sizeof(T), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (T number : numbers)
        printf("%g ", (double)(float)number);
    printf("\n");
    cudaFree(from);
    cudaFree(to);
}

__global__ void slow_square(float *x, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i];
    for (int k = 0; k < rounds; k++)
        value = sqrtf(value * value);
    x[i] = value * value;
}

__global__ void add_one(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1;
}

/* Kernels of two streams that nothing orders but who came first. */
static void in_order(cudaStream_t stream)
{
    enum { N = 4096 };
    float *x, *y, sum = 0;
    cudaMallocManaged(&x, N * sizeof *x);
    cudaMallocManaged(&y, N * sizeof *y);
    for (int i = 0; i < N; i++)
        x[i] = 3;
    slow_square<<<N / 256, 256>>>(x, N, 2000);
    add_one<<<N / 256, 256, 0, stream>>>(x, y, N);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < N; i++)
        sum += y[i];
    printf("%g\n", sum / N);
}

__global__ void numbered(int *x)
{
    x[threadIdx.x] = threadIdx.x;
}

/* A kernel allocates, launches a kernel, and another one frees. */
__global__ void own_memory(int **kept)
{
    cudaMalloc((void **)&kept[threadIdx.x], 32 * sizeof(int));
    numbered<<<1, 32>>>(kept[threadIdx.x]);
}

__global__ void own_sum(int **kept, int *sum)
{
    for (int i = 0; i < 32; i++)
        atomicAdd(sum, kept[threadIdx.x][i]);
    cudaFree(kept[threadIdx.x]);
}

static void by_kernels()
{
    int **kept, *sum;
    cudaMallocManaged(&kept, 8 * sizeof *kept);
    cudaMallocManaged(&sum, sizeof *sum);
    *sum = 0;
    own_memory<<<1, 8>>>(kept);
    own_sum<<<1, 8>>>(kept, sum);
    cudaDeviceSynchronize();
    printf("%d\n", *sum);
}

int main(int count, char **words)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    nvtxRangePush("all of it");
    nvtxNameCudaStreamA(nullptr, "default");
    nvtxNameCuDeviceW(0, L"device");
    if (count == 2 + 2 * 4)
        permute<float, 4>(words + 2, stream);
    else if (count == 2 + 2 * 5)
        permute<matx::matxFp16, 5>(words + 2, stream);
    else if (count == 1)
        in_order(stream);
    else
        by_kernels();
    return nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING ? 0 : 1;
}
