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

// A GPU's threads have the bytes of an object: only the host makes and ends copies.
struct Counted {
    static inline int copies = 0, ends = 0;
    int number = 0, *of;

    explicit Counted(int *at) : of(at) {}
    Counted(const Counted &from) : number(from.number), of(from.of) { copies++; }
    ~Counted() { ends++; }
};
// Without a way to move it.
struct Fixed {
    int *of;

    explicit Fixed(int *at) : of(at) {}
    Fixed(const Fixed &) = default;
    Fixed(Fixed &&) = delete;
    void launch() const;
};
// Frees what it has where it ends, copies too: as an error each time but the first.
struct Owner {
    int *of;

    Owner() { cudaMallocManaged(&of, sizeof(int)); }
    ~Owner() { cudaFree(of); }
};
__global__ void sum(Counted counted, const int &by, long scale)
{
    counted.number += threadIdx.x * by * scale;
    atomicAdd(counted.of, counted.number);
}
template <class T> __global__ void any(T fixed) { atomicAdd(fixed.of, threadIdx.x); }
void Fixed::launch() const { any<<<1, 8>>>(*this); }
__global__ void owned(Owner owner, int *to)
{
    atomicAdd(owner.of, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        *to = *owner.of;
}

void objects()
{
    int *of, *by;
    cudaMallocManaged(&of, 3 * sizeof(int));
    cudaMallocManaged(&by, sizeof(int));
    *by = 10;
    {
        Counted counted(of);
        sum<<<2, 64>>>(counted, *by, 2);
        printf("%d %d", Counted::copies, Counted::ends);
        void (*pointer)(Counted, const int &, long) = sum;
        pointer<<<1, 2>>>(counted, *by, 1);
        long scale = 1;
        void *arguments[] = {&counted, by, &scale};
        printf(" %d", cudaLaunchKernel((const void *)sum, dim3(1), dim3(3), arguments, 0, 0));
    }
    Fixed(of + 1).launch();
    {
        Owner owner;
        *owner.of = 0;
        owned<<<1, 64>>>(owner, of + 2);
    }
    printf(" %s", cudaGetErrorName(cudaGetLastError()));
    printf(" %d: %d %d: %d %d %d\n", cudaDeviceSynchronize(), Counted::copies, Counted::ends, of[0], of[1], of[2]);
}

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
    objects();
    return 0;
}
