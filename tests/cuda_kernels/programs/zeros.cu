// Launches as people write them: a 0 or NULL for a pointer, brackets with spaces.
#include <cstdio>

__global__ void plain(int *p, const float *q, int n)
{
    if (!p && !q)
        printf("plain %d\n", n);
}
template <bool B> __global__ void given(int *p, unsigned *q, int n)
{
    if (!p && !q)
        printf("given %d %d\n", n, B);
}
template <class T> __global__ void taken(T *p, T n)
{
    if (!p)
        printf("taken %zu %d\n", sizeof(T), (int)n);
}

int main()
{
    int *none = nullptr;
    plain<<<1, 1>>>(NULL, 0, 0);
    plain << <1, 1 >> >(0, nullptr, 3);
    given<true> << < 1, 1 >> > (0, NULL, 0);
    taken<<<1, 1>>>(none, 0);
    taken<short><<<1, 1>>>(0, 0);
    return cudaDeviceSynchronize();
}
