// Kernels with accesses that no GPU forgives, and races. argv: how.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

__device__ int table[64];
__constant__ int fixed[4] = {1, 2, 3, 4};

struct Big {
    int values[7];
};

// --- memory

__global__ void reads(const int *from, int *to, int at)
{
    if (threadIdx.x == 3)
        to[0] = from[at]; // the line of READ
}

__global__ void writes(int *to, int at)
{
    if (threadIdx.x == 3)
        to[at] = 1; // the line of WRITE
}

__global__ void beyond_shared(int *to, int at)
{
    extern __shared__ int room[];
    room[threadIdx.x] = 1;
    __syncthreads();
    to[0] = room[at]; // the line of SHARED
}

__global__ void crooked(char *to, int at)
{
    *reinterpret_cast<int *>(to + at) = 1; // the line of CROOKED
}

__global__ void other_stack(int *to)
{
    __shared__ int *shown;
    int mine = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0)
        shown = &mine;
    __syncthreads();
    if (threadIdx.x == 1)
        to[0] = *shown; // the line of STACK
    __syncthreads();
    mine += to[0];
}

__global__ void everything(int *device, int *managed, int *pinned, int *registered, Big big, int count)
{
    __shared__ Big shared;
    extern __shared__ int room[];
    int own[8];
    for (int i = 0; i < 8; i++)
        own[(i + count) % 8] = big.values[i % 7];
    room[threadIdx.x] = own[threadIdx.x % 8] + fixed[threadIdx.x % 4];
    if (threadIdx.x == 0)
        shared = big;
    __syncthreads();
    int *heap = static_cast<int *>(malloc(16)), *fresh = new int[4];
    heap[3] = fresh[3] = shared.values[threadIdx.x % 7];
    table[threadIdx.x] = heap[3] - fresh[3];
    atomicAdd(device, 1);
    int sum = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), 1, cg::plus<int>());
    if (threadIdx.x % 32 == 0)
        atomicAdd(device, sum);
    managed[threadIdx.x] = room[63 - threadIdx.x] + pinned[threadIdx.x] + registered[threadIdx.x];
    free(heap);
    delete[] fresh;
}

// --- races

__global__ void neighbour(int *to, bool waits)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x; // the line of STORED
    if (waits)
        __syncthreads();
    to[threadIdx.x] = s[(threadIdx.x + 1) % 64]; // the line of TAKEN
}

__global__ void overwrites(int *to)
{
    __shared__ int last;
    last = threadIdx.x; // the line of LAST
    __syncthreads();
    to[threadIdx.x] = last;
}

__global__ void flag(int *to)
{
    __shared__ int any;
    any = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0)
        any = 1;
    __syncthreads();
    to[threadIdx.x] = any;
}

// The lanes of a warp as if they ran in step.
__global__ void in_step(int *to, bool waits)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x, lane = t % 32;
    s[t] = t;
    if (waits)
        __syncwarp();
    for (int k = 16; k > 0; k /= 2) {
        int mine = lane < k ? s[t + k] : 0; // the line of STEP
        if (waits)
            __syncwarp();
        if (lane < k)
            s[t] = s[t] + mine;
        if (waits)
            __syncwarp();
    }
    if (lane == 0)
        to[t / 32] = s[t];
}

__global__ void overtakes(int *to)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 64; i++)
        sum += s[i]; // the line of SUMMED
    s[threadIdx.x] = sum; // the line of BACK
    __syncthreads();
    to[threadIdx.x] = s[threadIdx.x];
}

// Everything that orders threads.
__global__ void ordered(int *to)
{
    __shared__ int s[128], counts[8], lock, guarded;
    int t = threadIdx.x;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto four = cg::tiled_partition<4>(block);
    auto wide = cg::tiled_partition<64>(block);
    if (t < 8)
        counts[t] = 0;
    if (t == 0)
        lock = guarded = 0;
    s[t] = t;
    block.sync();
    atomicAdd(&counts[t % 8], s[127 - t]);
    __syncthreads();
    s[t] = counts[t % 8];
    four.sync();
    int near = s[t ^ 3];
    four.sync();
    s[t] = near + 1;
    warp.sync();
    int far = s[t ^ 31];
    far += __shfl_xor_sync(~0u, far, 1); // a shuffle orders, too
    s[t] = far;
    wide.sync();
    int wider = s[t ^ 63];
    wide.sync();
    s[t] = wider;
    if (t % 32 < 7) {
        __syncwarp(0x7f);
        s[t] = s[t / 32 * 32 + (t % 32 + 1) % 7] * 0 + s[t];
    }
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0)
        __nanosleep(10);
    guarded = guarded + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
    cg::memcpy_async(block, s, to, sizeof(int) * 128);
    cg::wait(block);
    to[t] = s[t] * 0 + guarded + wider * 0;
}

int main(int, char **argv)
{
    const char *how = argv[1];
    int *device, *managed, *pinned, *registered = static_cast<int *>(malloc(4096)), results[128];
    cudaMalloc(&device, 100 * sizeof(int));
    cudaMallocManaged(&managed, 512);
    cudaMallocHost(&pinned, 512);
    cudaHostRegister(registered, 4096, 0);
    memset(pinned, 0, 512);
    memset(registered, 0, 4096);
    cudaMemset(device, 0, 400);
    int on_stack[4] = {1, 2, 3, 4}, *on_heap = static_cast<int *>(malloc(64));
    bool waits = strstr(how, "-waits") != nullptr;
    auto is = [&](const char *name) { return strncmp(how, name, strlen(name)) == 0; };
    if (is("end"))
        reads<<<2, 32>>>(device, managed, 100);
    else if (is("before"))
        writes<<<2, 32>>>(device, -1);
    else if (is("stack"))
        reads<<<2, 32>>>(on_stack, managed, 1);
    else if (is("heap"))
        writes<<<2, 32>>>(on_heap, 1);
    else if (is("shared"))
        beyond_shared<<<1, 64, 256>>>(managed, 64);
    else if (is("crooked"))
        crooked<<<1, 1>>>(reinterpret_cast<char *>(managed), 2);
    else if (is("other"))
        other_stack<<<1, 64>>>(managed);
    else if (is("freed")) {
        int *gone;
        cudaMalloc(&gone, 64);
        cudaFree(gone);
        writes<<<2, 32>>>(gone, 0);
    } else if (is("later")) {
        int *gone;
        cudaMallocAsync(&gone, 64, 0);
        writes<<<2, 32>>>(gone, 0);
        cudaFreeAsync(gone, 0);
    } else if (is("everything"))
        everything<<<1, 64, 256>>>(device, managed, pinned, registered, Big{}, 3);
    else if (is("neighbour"))
        neighbour<<<1, 64>>>(managed, waits);
    else if (is("overwrites"))
        overwrites<<<1, 64>>>(managed);
    else if (is("flag"))
        flag<<<1, 64>>>(managed);
    else if (is("step"))
        in_step<<<1, 64>>>(managed, waits);
    else if (is("overtakes"))
        overtakes<<<1, 64, 256>>>(managed);
    else if (is("ordered"))
        ordered<<<2, 128>>>(managed);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s", cudaGetErrorName(error));
    if (error == cudaSuccess) {
        memcpy(results, managed, 512);
        for (int i = 0; i < 3; i++)
            printf(" %d", results[i]);
    }
    printf("\n");
    return 0;
}
