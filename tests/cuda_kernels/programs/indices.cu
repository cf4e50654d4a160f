// threadIdx and its like as programs use them, and variables of these names. "indices fault N SIZE" fails in thread N.
#include <cstdio>
#include <cstdlib>
#include <cstring>

template <class T> __device__ T smaller(T a, T b) { return a < b ? a : b; }
template <class V> __device__ unsigned sum(V v) { return v.x + v.y + v.z; }
__device__ unsigned given(dim3 size) { return size.x * size.y * size.z; }
__device__ __noinline__ unsigned column() { return threadIdx.x; }

struct Own {
    dim3 gridDim;
    unsigned wide() const { return gridDim.x; }
};

__global__ void all(unsigned *out)
{
    auto here = threadIdx;
    const uint3 block = blockIdx;
    unsigned place = (block.x * blockDim.y + here.y) * blockDim.x + here.x;
    unsigned *own = out + place * 6;
    own[0] = smaller(threadIdx.x, 2u);
    own[1] = sum(threadIdx) * 100 + sum(blockIdx);
    own[2] = given(blockDim) * 100 + given(gridDim);
    own[3] = column();
    [&](uint3 threadIdx) { own[4] = threadIdx.x + 1000; }(make_uint3(7, 8, 9));
    __syncthreads();
    own[5] = threadIdx.x * 10 + threadIdx.y;
}

// Bytes may be anything's: threadIdx, the arguments.
__global__ void bytes(unsigned char *out, unsigned char step)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = (unsigned char)(threadIdx.x * step + blockIdx.x);
}

__global__ void fails(char *out, unsigned at)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1;
    if (i == at)
        *(volatile int *)16 = 1;
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        char *out;
        cudaMallocManaged(&out, 1 << 16);
        unsigned size = atoi(argv[3]);
        fails<<<(1 << 16) / size, size>>>(out, atoi(argv[2]));
        printf("%d\n", cudaDeviceSynchronize());
        return 0;
    }
    unsigned *out;
    cudaMallocManaged(&out, 3 * 4 * 5 * 6 * sizeof *out);
    all<<<3, dim3(4, 5)>>>(out);
    printf("status %d\nall", cudaDeviceSynchronize());
    for (int i = 0; i < 3 * 4 * 5 * 6; i++)
        printf(" %u", out[i]);
    unsigned char *small;
    cudaMallocManaged(&small, 1 << 16);
    bytes<<<512, 128>>>(small, 3);
    cudaDeviceSynchronize();
    unsigned long total = 0;
    for (int i = 0; i < 1 << 16; i++)
        total = total * 31 + small[i];
    dim3 blockDim(2, 3);
    Own own = {blockDim};
    printf("\nbytes %lu\nown %u %u\n", total, own.wide(), blockDim.y);
}
