// Attributes of streams, and launches by a configuration.
#include <cstdio>
#include <cstring>

__global__ void store(int *to, int a, float b) { to[threadIdx.x] = a + (int)b + threadIdx.x; }

int main()
{
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
