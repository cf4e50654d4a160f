/* Functions that are others on the host, by __CUDA_ARCH__. */
#include <cstdio>
#include <vector>

#ifndef __CUDA_ARCH__
static int only_host(int x) { return x + 1000; }
struct HostThing {
    std::vector<int> values;
};
#endif

#if defined(__CUDA_ARCH__)
#define ON_HOST(code)
#define ON_DEVICE(code) code
#else
#define ON_HOST(code) code
#define ON_DEVICE(code)
#endif

__host__ __device__ int which()
{
#ifdef __CUDA_ARCH__
    return 2;
#else
    return only_host(1);
#endif
}

__host__ __device__ constexpr int constant(int a)
{
#ifdef __CUDA_ARCH__
    return a + 1;
#else
    return a + 2;
#endif
}

struct Made {
    int n;
    __host__ __device__ Made() : n(0)
    {
        ON_HOST(n = 6;) ON_DEVICE(n = 5;)
    }
    __host__ __device__ ~Made()
    {
        ON_HOST(destroyed++;)
    }
    static int destroyed;
};
int Made::destroyed = 0;

__device__ int of_the_device()
{
#ifdef __CUDA_ARCH__
    return threadIdx.x + 40;
#else
    return 0;
#endif
}

template <class T> __host__ __device__ auto times(T x)
{
#if __CUDA_ARCH__ >= 800
    return x * 2;
#else
    return x * 3;
#endif
}

/* Braces that are no body's, before one that is. */
struct alignas(16) Braced {
    int a, b;
    __host__ __device__ Braced() noexcept(true) : a{1}, b{2}
    {
#ifndef __CUDA_ARCH__
        a = only_host(a);
#endif
    }
    __host__ __device__ auto sum() const & -> int
    {
#ifndef __CUDA_ARCH__
        if (a > 0) {
            return only_host(b);
        }
#endif
        return a + b;
    }
};

/* Both sides declare what comes behind. */
inline __host__ __device__ int declared(int x)
{
#ifdef __CUDA_ARCH__
    long factor = 7;
    auto f = [&](int y) { return y * factor; };
#else
    short factor = 11;
    auto f = [&](int y) { return y - factor; };
#endif
    if (x > 0) { ON_DEVICE(return -1;) }
    return static_cast<int>(f(x)) + ON_HOST(100) ON_DEVICE(200);
}

__global__ void k(int *out)
{
    Made made;
    out[0] = which();
    out[1] = constant(1);
    out[2] = made.n;
    out[3] = of_the_device();
    out[4] = times(10);
    out[5] = declared(1);
    out[6] = declared(-2);
#ifdef __CUDA_ARCH__
    out[7] = __CUDA_ARCH__;
#endif
    Braced braced;
    out[8] = braced.a;
    out[9] = braced.sum();
}

int main()
{
    constexpr int known = constant(1);
    int *out, found[10];
    cudaMalloc(&out, sizeof found);
    k<<<1, 1>>>(out);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    for (int one : found)
        printf("%d ", one);
    HostThing thing;
    thing.values.push_back(3);
    int n;
    {
        Made made;
        n = made.n;
    }
    Braced braced;
    printf("%d %d %d %d %d %d %d %d %zu %d %d\n", which(), constant(1), known, n, times(10), declared(1), declared(-2),
           Made::destroyed, thing.values.size(), braced.a, braced.sum());
#ifdef __CUDA_ARCH__
    printf("main is no code of a device\n");
#endif
}
