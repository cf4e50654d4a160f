// Of a header, in two files: each has its own, as nothing of a device leaves a file without -rdc=true.
__constant__ float factor;
__device__ int calls;
__device__ float scaled(float x)
{
    atomicAdd(&calls, 1);
    return x * factor;
}
struct Pair
{
    float a, b;
    __device__ Pair(float a, float b);
    __device__ float sum() const;
    __host__ __device__ float product() const;
};
__device__ Pair::Pair(float a, float b) : a(a), b(b) {}
__device__ float Pair::sum() const { return a + b; }
template <class T> __device__ T twice(T x) { return x + x; }
template <> __device__ float twice(float x) { return 2 * x; }
extern "C" {
__device__ float plain(float x) { return x + 1; }
}
__device__ auto half = [] __device__(float x) { return x / 2; };
