// Launches of every form; prints what the test computes, too.
#include <cstdio>
#include <vector>

__constant__ float factors[2];
__device__ int counter;

__device__ float twice(float x) { return 2 * x; }

__global__ void scale(const float *x, float *y, int n, float by = 1.5f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = twice(x[i]) * by + factors[1];
}

template <typename T, int N> __global__ void sums(const T *x, T *out) {
    __shared__ T s[N];
    extern __shared__ T copies[];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * N + t];
    copies[t] = s[t];
    __syncthreads();
    for (int k = N / 2; k; k /= 2) {
        if (t < k)
            s[t] += copies[t + k];
        __syncthreads();
        copies[t] = s[t];
        __syncthreads();
    }
    if (!t)
        out[blockIdx.x] = s[0];
}

template <class T> __global__ void fill(T *x, T value, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = value;
}

__global__ void places(int *out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
    atomicAdd(&counter, 1);
}

__global__ void child(int *x) { x[threadIdx.x] += 1; }

typedef void (*Kernel)(int *);

template <int N, class T> __global__ void set(T *x) { x[threadIdx.x] = N; }

template <class Of> void with(Of of) { of(); }

/* Constants of the function around it are no captures, whatever the lambda says. */
template <class T> static void from_lambdas(T *x) {
    constexpr int TIMES = 6;
    const int more = 2;
    with([&] {
        constexpr int SEVEN = 7;
        with([&] { set<TIMES * SEVEN + more><<<1, more>>>(x); });
    });
}

template <class T> static std::vector<T> back(const T *device, size_t n) {
    std::vector<T> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

template <class T> static void show(const char *name, const std::vector<T> &values) {
    printf("%s", name);
    for (T value : values)
        printf(" %g", static_cast<double>(value));
    printf("\n");
}

#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)

int main() {
    const int n = 1000;
    std::vector<float> x(1024);
    for (int i = 0; i < 1024; i++)
        x[i] = static_cast<float>(i % 37);
    float host_factors[2] = {3, 4}, *dx, *dy;
    int *di;
    cudaMalloc(&dx, 4096), cudaMalloc(&dy, 4096), cudaMalloc(&di, 4096 * 4);
    cudaMemcpy(dx, x.data(), 4096, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(factors, host_factors, sizeof host_factors);
    cudaMemset(dy, 0, 4096);

    scale<<<dim3((n + 255) / 256), 256>>>(dx, dy, n);
    show("default", std::vector<float>{back(dy, n)[999], back(dy, 1024)[1000]});
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    scale<<<4, 256, 0, stream>>>(dx, dy, n, 2);
    cudaStreamSynchronize(stream);
    show("stream", std::vector<float>{back(dy, n)[10]});

    sums<float, 256><<<4, 256, 256 * sizeof(float)>>>(dx, dy);
    show("sums", back(dy, 4));
    fill<<<1, 32>>>(dy, 7.5f, 5);
    show("deduced", back(dy, 5));
    LAUNCH(fill<int>, 1, 8, di, 3, 2);
    show("macro", back(di, 2));

    places<<<dim3(2, 3, 2), dim3(4, 2, 3)>>>(di);
    std::vector<int> found = back(di, 12 * 24);
    int right = 0, total = 0;
    for (int b = 0; b < 12; b++)
        for (int t = 0; t < 24; t++)
            right += found[b * 24 + t] == b * 1000 + t;
    cudaMemcpyFromSymbol(&total, counter, sizeof total);
    show("places", std::vector<int>{right, total});

    from_lambdas(di);
    show("lambdas", back(di, 2));

    cudaMemset(di, 0, 64);
    child<<<1, 4>>>(di);
    Kernel pointer = child;
    pointer<<<1, 2>>>(di);
    show("children", back(di, 5));

    void *arguments[] = {&di};
    cudaError_t by_address = cudaLaunchKernel((void *)child, dim3(1), dim3(3), arguments, 0, nullptr);
    show("address", back(di, 5));
    float value = 2.5f;
    int count = 3;
    void *more[] = {&dy, &value, &count};
    cudaLaunchKernel((const void *)fill<float>, dim3(1), dim3(1), more, 0, nullptr);
    show("instance", back(dy, 4));
    printf("status %d", by_address);

    child<<<1, 2000>>>(di);
    printf(" %d", cudaGetLastError());
    printf(" %d", cudaGetLastError());
    child<<<0, 1>>>(di);
    printf(" %d\n", cudaPeekAtLastError());
    return 0;
}
