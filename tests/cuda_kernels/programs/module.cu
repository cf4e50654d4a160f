// A module: kernels and variables that the driver finds by name.
__device__ int counter = 5;
static __constant__ double factors[3] = {1, 2, 4};

extern "C" __global__ void fill(char first, double second, float *out, short third, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = first * 1000 + second * factors[i % 3] + third + counter;
}

template <class T> __global__ void generic(T *out) { *out = 7; }
template __global__ void generic<int>(int *);
