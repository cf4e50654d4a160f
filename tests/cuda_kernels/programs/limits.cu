// What a launch may ask for: each line says what was asked, and the answers.
#include <cstdio>

__global__ void plain(int *to)
{
    extern __shared__ int room[];
    room[threadIdx.x] = 1;
    to[0] = room[threadIdx.x];
}

__global__ void other(int *to)
{
    extern __shared__ int room[];
    to[0] = room[0] * 0 + 2;
}

template <class T> __global__ void generic(T *to)
{
    extern __shared__ int room[];
    to[0] = static_cast<T>(room[0] * 0 + 1);
}

static void say(const char *what, cudaError_t error)
{
    cudaError_t last = cudaGetLastError();
    printf("%s %s %s %s\n", what, cudaGetErrorName(error), cudaGetErrorName(last),
           cudaGetErrorName(cudaDeviceSynchronize()));
}

int main()
{
    int *to, most;
    cudaFuncAttributes known;
    cudaMallocManaged(&to, 64);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    plain<<<1, 32, 48 << 10>>>(to);
    say("usual", cudaSuccess);
    plain<<<1, 32, (48 << 10) + 1>>>(to);
    say("more", cudaSuccess);
    generic<float><<<1, 32, 64 << 10>>>(reinterpret_cast<float *>(to));
    say("generic", cudaSuccess);
    say("set", cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    plain<<<1, 32, 64 << 10>>>(to);
    say("allowed", cudaSuccess);
    plain<<<1, 32, (64 << 10) + 1>>>(to);
    say("beyond", cudaSuccess);
    other<<<1, 32, 64 << 10>>>(to);
    say("other", cudaSuccess);
    void (*pointer)(int *) = other;
    pointer<<<1, 32, 64 << 10>>>(to);
    say("pointer", cudaSuccess);
    cudaFuncSetAttribute(generic<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    generic<float><<<1, 32, 64 << 10>>>(reinterpret_cast<float *>(to));
    say("generic-now", cudaSuccess);
    say("most", cudaFuncSetAttribute(other, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    say("above", cudaFuncSetAttribute(other, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
    say("get", cudaFuncGetAttributes(&known, plain));
    printf("%d\n", known.maxDynamicSharedSizeBytes);
    return 0;
}
