/* Templates of one name: each instance is a kernel by its address. */
#include <cstdio>
#include <type_traits>

template <class T> __global__ void k(T *out) { *out = 1; }
template <class T, int N> __global__ void k(T *out) { *out = 100 + N; }
template <class T> __global__ void k(T *out, int n) { *out = 1000 + n; }
template <class T> __global__ void k(const T x, T *out) { *out = x; }

template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0> __global__ void kind(T *out) { *out = 5; }
template <class T, std::enable_if_t<!std::is_integral_v<T>, int> = 0> __global__ void kind(T *out) { *out = 6; }

template <class T> __global__ void more(T *out) { *out = 7; }
template <class T, class... More> __global__ void more(T *out, More... given) { *out = 8 + sizeof...(given); }

/* Functions that answer them: no text names an instance where it is launched. */
template <class T> struct Get {
    static std::decay_t<decltype(k<T, 2>)> two() { return k<T, 2>; }
    static void (*one())(T *) { return k<T>; }
};

static float *out;

static float value()
{
    float v;
    cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
    return v;
}

template <class F, class... A> static float run(F kernel, A... a)
{
    cudaFuncAttributes attributes;
    void *arguments[] = {&out, &a...};
    if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess || attributes.maxThreadsPerBlock != 1024)
        return -1;
    cudaLaunchKernel(reinterpret_cast<const void *>(kernel), 1, 1, arguments, 0, nullptr);
    return value();
}

int main()
{
    int *whole, found;
    cudaMalloc(&out, sizeof *out);
    cudaMalloc(&whole, sizeof *whole);
    printf("%g %g ", run(Get<float>::one()), run(Get<float>::two()));
    printf("%g ", run(static_cast<void (*)(float *, int)>(k<float>), 3));
    k<<<1, 1>>>(2.5f, out);
    printf("%g ", value());
    (Get<float>::two())<<<1, 1>>>(out);
    printf("%g ", value());
    kind<<<1, 1>>>(out);
    printf("%g ", value());
    kind<<<1, 1>>>(whole);
    cudaMemcpy(&found, whole, sizeof found, cudaMemcpyDeviceToHost);
    printf("%d ", found);
    more<<<1, 1>>>(out);
    printf("%g ", value());
    more<<<1, 1>>>(out, 1, 2);
    printf("%g ", value());
    printf("%g\n", run(static_cast<void (*)(float *, int, char, int)>(more<float, int, char, int>), 1, '2', 3));
}
