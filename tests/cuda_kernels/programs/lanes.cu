// Which lanes are at one place, and in which memory an address is.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

__device__ int variable;

__global__ void asks(unsigned *all, unsigned *sizes, unsigned *ranks, unsigned *turns, unsigned *late, int *sums,
                     int *counter)
{
    int t = threadIdx.x;
    all[t] = __activemask();
    if (t % 3 == 0) { // one atomic for all lanes that are here
        auto here = cg::coalesced_threads();
        sizes[t] = here.size();
        int base = 0;
        if (here.thread_rank() == 0)
            base = atomicAdd(counter, here.size());
        ranks[t] = here.shfl(base, 0) + here.thread_rank();
    }
    unsigned mask = __activemask(); // all again
    int sum = t;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(mask, sum, step);
    sums[t] = sum;
    for (int i = 0; i < t % 4; i++)
        turns[t] = __popc(__activemask());
    if (t < 40)
        __syncthreads();
    else
        late[t] = __activemask();
}

// A program's own: CUDA's took no such thing.
struct Pair {
    int a, b;
};
__device__ Pair __shfl_up(Pair pair, unsigned delta)
{
    return Pair{__shfl_up_sync(~0u, pair.a, delta), __shfl_up_sync(~0u, pair.b, delta)};
}

__global__ void unmasked(int *of)
{
    int t = threadIdx.x, *to = of + t;
    Pair pair = __shfl_up(Pair{t, 2 * t}, 4);
    to[0] = __shfl(t, 3, 8);
    to[64] = __shfl_down(1.5 * t, 2) * 2;
    to[128] = __shfl_xor(t, 16) + __shfl_xor(t, 1);
    if (t % 2) {
        to[192] = __popc(__ballot(t > 10));
        to[256] = __any(t == 33) ? 1 : __all(t < 32) ? 2 : 3;
    } else {
        to[192] = -__popc(__ballot(t > 10));
        to[256] = __any(t == 33);
    }
    to[320] = pair.a + pair.b;
    to[384] = __shfl_xor_sync(~0u, t, -1) + 100 * __shfl_up_sync(~0u, t, 33) + 10000 * __shfl_down_sync(~0u, t, 32);
}

__global__ void spaces(int *global, int *answers)
{
    __shared__ int fixed;
    extern __shared__ int dynamic[];
    int own = threadIdx.x;
    const void *places[] = {global, &variable, &fixed, dynamic, &own};
    for (int i = 0; i < 5; i++)
        answers[i] = __isGlobal(places[i]) | __isShared(places[i]) << 1 | __isLocal(places[i]) << 2;
    answers[5] = *static_cast<int *>(__cvta_shared_to_generic(__cvta_generic_to_shared(&fixed))) == fixed;
    answers[6] = __umul64hi(~0ull, 1ull << 40) == (1ull << 40) - 1 && __mul64hi(-1, 5) == -1;
}

int main()
{
    unsigned *data;
    cudaMallocManaged(&data, 4096);
    cudaMemset(data, 0, 4096);
    unsigned *part[7];
    for (int i = 0; i < 7; i++)
        part[i] = data + i * 64;
    asks<<<1, 64>>>(part[0], part[1], part[2], part[3], part[4], reinterpret_cast<int *>(part[5]),
                    reinterpret_cast<int *>(part[6]));
    spaces<<<1, 1, 64>>>(reinterpret_cast<int *>(data), reinterpret_cast<int *>(part[6] + 8));
    if (__isShared(data) || __isLocal(&data) || !__isGlobal(data)) // functions for both sides ask on the host, too
        printf("wrong ");
    unmasked<<<1, 64>>>(reinterpret_cast<int *>(data + 512));
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 448; i++)
        printf("%u ", data[i]);
    printf("\n");
    for (int i = 512; i < 960; i++)
        printf("%d ", data[i]);
    return 0;
}
