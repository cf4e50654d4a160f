// Arguments that are objects: in managed memory by reference, and copies with memory of their own.
#include <cstdio>

struct Managed {
    void *operator new(size_t size)
    {
        void *made;
        cudaMallocManaged(&made, size);
        return made;
    }
    void operator delete(void *made) { cudaFree(made); }
};

struct Numbers : Managed {
    int count, *of;

    explicit Numbers(int n) : count(n)
    {
        cudaMallocManaged(&of, n * sizeof(int));
        for (int i = 0; i < n; i++)
            of[i] = i;
    }
    Numbers(const Numbers &from) : Numbers(from.count)
    {
        for (int i = 0; i < count; i++)
            of[i] = from.of[i];
    }
    ~Numbers() { cudaFree(of); }
};

__global__ void change(Numbers &numbers, int by)
{
    numbers.of[threadIdx.x] += by;
    if (threadIdx.x == 0)
        numbers.count = 3;
}
__global__ void read(const Numbers &numbers, int *to) { to[threadIdx.x] = numbers.of[threadIdx.x]; }
__global__ void keep(const double &number, int *to) { to[threadIdx.x] += number > 2.4 && number < 2.6; }
__global__ void lose(Numbers numbers) { numbers.of[threadIdx.x] = -1; }

int main()
{
    auto *numbers = new Numbers(8);
    int *to;
    cudaMallocManaged(&to, 8 * sizeof(int));
    change<<<1, 8>>>(*numbers, 10);
    read<<<1, 8>>>(*numbers, to);
    keep<<<1, 8>>>(2.5f, to);
    printf("%d", cudaDeviceSynchronize());
    printf(" %d", numbers->count);
    lose<<<2, 8>>>(*numbers);
    printf(" %d:", cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++)
        printf(" %d", numbers->of[i] == to[i] - 1 ? to[i] : -1);
    printf("\n");
    delete numbers;
    return 0;
}
