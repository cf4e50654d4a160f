// Attributes of streams, launches by a configuration, and kernels whose names others have, too.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
using namespace std;

__global__ void store(int *to, int a, float b) { to[threadIdx.x] = a + (int)b + threadIdx.x; }

namespace one {
__global__ void twice(int *to, int n = 3) { to[0] = n; }
}
namespace two {
__global__ void twice(int *to, float (*)[3], int n = 3 < 4) { to[0] += 2 * n; }
}
__global__ void over(int *to) { to[0] += 10; }
__global__ void over(float *to) { to[0] += 0.5f; }
__global__ void raise(int *to, int by) { to[threadIdx.x] += by; }
template <typename T> __global__ void abs(T *to) { to[0] = to[0] < 0 ? -to[0] : to[0]; }

__global__ void reduce(const int *from, int *to, int n) { *to = from[0] * n; }
template <typename T> __global__ void copy(const T *from, T *to, int n) { to[n] = from[0]; }

/* A millisecond by the device's clock: how far both ways to read it went. */
__global__ void wait(long long *went, int khz)
{
    clock_t begin = clock();
    long long begin64 = clock64();
    while (clock64() - begin64 < khz)
        ;
    went[0] = clock64() - begin64;
    went[1] = clock() - begin;
}

static void clocks()
{
    int khz;
    long long *went;
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    cudaMallocManaged(&went, 2 * sizeof *went);
    auto begin = std::chrono::steady_clock::now();
    wait<<<1, 1>>>(went, khz);
    cudaDeviceSynchronize();
    auto took = std::chrono::steady_clock::now() - begin;
    printf("%d %d %d\n", went[0] >= khz, went[1] >= went[0], took >= std::chrono::milliseconds(1));
}

static void names_that_others_have()
{
    int *to;
    float *half;
    void (*pointer)(int *) = over;
    cudaFuncAttributes found;
    cudaMallocManaged(&to, 4 * sizeof *to);
    cudaMallocManaged(&half, sizeof *half);
    one::twice<<<1, 1>>>(to);          // 3
    two::twice<<<1, 1>>>(to, nullptr); // 5
    over<<<1, 1>>>(to);                // 15
    over<<<1, 1>>>(half);
    raise<<<1, 4>>>(to, -35); // -20
    abs<int><<<1, 1>>>(to);   // 20
    copy<int><<<1, 1>>>(to, to, 1);
    reduce<<<1, 1>>>(to, to + 2, 3); // 60
    printf("%s ", cudaGetErrorName(cudaFuncGetAttributes(&found, pointer)));
    void *arguments[] = {&to};
    printf("%s ", cudaGetErrorName(cudaLaunchKernel((void *)pointer, 1, 1, arguments, 0, 0)));
    cudaDeviceSynchronize();
    printf("%d %d %d %d %g\n", to[0], to[1], to[2], to[3], half[0]);
}

int main()
{
    names_that_others_have();
    clocks();
    cudaStream_t stream, other;
    cudaStreamAttrValue value, found;
    cudaDeviceProp prop;
    int *to;
    cudaGetDeviceProperties(&prop, 0);
    cudaMallocManaged(&to, 64 * sizeof(int));
    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    memset(&value, 0, sizeof value);
    value.accessPolicyWindow.base_ptr = to;
    value.accessPolicyWindow.num_bytes = 256;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    printf("%s ", cudaGetErrorName(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value)));
    cudaStreamCopyAttributes(other, stream);
    cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found);
    printf("%d %g ", found.accessPolicyWindow.base_ptr == to, found.accessPolicyWindow.hitRatio);
    value.accessPolicyWindow.hitRatio = 2;
    printf("%s ", cudaGetErrorName(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value)));
    printf("%s\n", cudaGetErrorName(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value)));
    size_t most = prop.persistingL2CacheMaxSize, now = 0;
    printf("%s ", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most)));
    cudaDeviceGetLimit(&now, cudaLimitPersistingL2CacheSize);
    printf("%d %s ", now == most, cudaGetErrorName(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most + 1)));
    printf("%s\n", cudaGetErrorName(cudaCtxResetPersistingL2Cache()));
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(64);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    printf("%s ", cudaGetErrorName(cudaLaunchKernelEx(&config, store, to, 3, 4))); // 4 becomes a float
    cudaStreamSynchronize(stream);
    printf("%d %d ", to[0], to[63]);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    printf("%s ", cudaGetErrorName(cudaLaunchKernelEx(&config, store, to, 3, 4)));
    int p2p;
    printf("%s\n", cudaGetErrorName(cudaDeviceGetP2PAttribute(&p2p, cudaDevP2PAttrAccessSupported, 0, 0)));
    return 0;
}
