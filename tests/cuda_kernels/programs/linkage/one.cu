#include "common.cuh"

__device__ float own() { return 1; }
__host__ __device__ float Pair::product() const { return a * b; }
__global__ void one(float *out) { *out = scaled(Pair(1, 2).sum()) + twice(own()) + plain(half(4.f)); }

int counted_in_one()
{
    int count;
    cudaMemcpyFromSymbol(&count, calls, sizeof count);
    return count;
}

void run_one(float *out)
{
    const float mine = 10;
    cudaMemcpyToSymbol(factor, &mine, sizeof mine);
    one<<<1, 1>>>(out);
}
