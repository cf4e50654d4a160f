// Quotients and remainders of each integer type, one line a type: dividend, divisor, quotient, remainder.
#include <cstdio>
#include <limits>

template <class T> __global__ void divide(const T *a, const T *b, T *quotient, T *remainder)
{
    int i = threadIdx.x;
    quotient[i] = a[i] / b[i];
    remainder[i] = a[i] % b[i];
}

// What the compiler knows to be a division by zero is one.
__global__ void known(int *quotient, int a, int b)
{
    if (b == 0)
        *quotient = a / b;
}

// A divisor in shared memory is read by the division itself.
__global__ void shared(int *quotient, int a)
{
    __shared__ int b;
    b = *quotient;
    __syncthreads();
    *quotient = a / b;
}

template <class T> void show(const char *name)
{
    const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const T a[] = {5, static_cast<T>(-5), 0, most, least, least, 7, most, static_cast<T>(most / 2 + 1)};
    const T b[] = {0, 0, 0, 0, 0, static_cast<T>(-1), 2, 3, 0};
    const int count = sizeof a / sizeof *a;
    T *all;
    cudaMallocManaged(&all, 4 * sizeof a);
    for (int i = 0; i < count; i++) {
        all[i] = a[i];
        all[count + i] = b[i];
    }
    divide<<<1, count>>>(all, all + count, all + 2 * count, all + 3 * count);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s %s", name, cudaGetErrorName(error));
    for (int i = 0; i < count; i++)
        for (int of = 0; of < 4; of++)
            printf(" %lld", static_cast<long long>(all[of * count + i]));
    printf("\n");
    cudaFree(all);
}

int main()
{
    show<int>("int32");
    show<unsigned>("uint32");
    show<long long>("int64");
    show<unsigned long long>("uint64");
    show<short>("int16");
    show<unsigned short>("uint16");
    show<signed char>("int8");
    show<unsigned char>("uint8");
    int *quotient;
    cudaMallocManaged(&quotient, sizeof *quotient);
    known<<<1, 1>>>(quotient, 7, 0);
    cudaDeviceSynchronize();
    printf("%d\n", *quotient);
    *quotient = 0;
    shared<<<1, 1>>>(quotient, 7);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s %d\n", cudaGetErrorName(error), *quotient);
}
