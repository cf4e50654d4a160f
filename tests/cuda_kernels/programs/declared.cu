/* What nvcc takes where members of templates are defined, and as parameters of kernels. */
#include <cstdio>

template <class T, int N> struct Pair {
    struct Inner {
        T value;
    };
    using type = T;
    type get();
    Inner *none();
    T add(T a, T b);
    auto behind() -> Pair<T, N>::Inner;
    T own;
};

template <class T, int N> Pair<T, N>::type Pair<T, N>::get() { return own; }
template <class T, int N> __host__ Pair<T, N>::Inner *Pair<T, N>::none() { return nullptr; }
template <class T, int N> T Pair<T, N>::add(T a, T b = T(N < 3 ? 1 : 2)) { return a + b + own; }
template <class T, int N> auto Pair<T, N>::behind() -> Pair<T, N>::Inner { return {own}; }

using word = long;
template <class T> struct Named {
    word before() { return 1; }
    using word = typename Pair<T, 1>::type;
    word own;
};

struct Twice {
    template <int By> __device__ int operator()(int of) const { return By * of; }
    template <int By> __device__ int named(int of) const { return By * of; }
};
template <class Does> __device__ int done(Does does)
{
    auto call = [&](auto of) { return does.operator()<2>(of); };
    return call(3) + does.named<4>(9);
}

template <class T> __global__ void count(T *count, const T by) { atomicAdd(count, by); }

struct Copied { /* of a variable only */
    int *at;
    __host__ __device__ Copied(int *of) : at(of) {}
    __host__ __device__ Copied(Copied &of) : at(of.at) {}
    __host__ __device__ ~Copied() {}
};
template <class T> __global__ void put(const T *by, Copied to) { *to.at += *by; }
__global__ void put_int(const int *by, Copied to) { *to.at += 1000 * *by; }

template <class T> struct Held {
    struct inner {
        T own;
        __device__ inner(T of) : own(of) {}
    };
    T of;
};
template <class H> __global__ void held(int *to, H by)
{
    auto made = H::inner(by.of);
    *to = made.own;
}

struct Point {
    int x, y;
};
__global__ void distance(int *to, Point from, Point behind, int by) { *to = (behind.x - from.x) * by + from.y; }
template <class T> __global__ void sum(T *to, Point of, T by) { *to = of.x + of.y + by; }

__global__ void twice(int *to) { *to = done(Twice()); }

int main()
{
    Pair<int, 4> pair{5};
    int *at;
    cudaMallocManaged(&at, 7 * sizeof *at);
    at[0] = at[1] = 0;
    count<<<2, 32>>>(at, pair.get() + pair.add(1, 2) + pair.behind().value);
    Copied to(at + 1);
    put<<<1, 1>>>(at, to);
    put_int<<<1, 1>>>(at, to);
    twice<<<1, 1>>>(at + 2);
    distance<<<1, {1, 1, 1}>>>(at + 3, {3, 4}, {.x = 13}, {5});
    auto pointer = distance;
    pointer<<<1, 1>>>(at + 4, Point{}, {2, int{0}}, 7);
    sum<int><<<1, 1>>>(at + 5, {20, 22}, 0);
    held<<<1, 1>>>(at + 6, Held<int>{99});
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s %d %d %d %d %d %d %d %d %d\n", cudaGetErrorName(error), at[0], at[1], pair.none() == nullptr,
           Named<int>{7}.own, at[2], at[3], at[4], at[5], at[6]);
    return 0;
}
