// Threads that fail. argv: how, block, thread.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ int deep(volatile char *behind, int depth)
{
    volatile char here[4096];
    here[0] = behind ? behind[0] : 1;
    return depth > 0 ? deep(here, depth - 1) + here[0] : here[0];
}

enum How { NONE, READ, WRITE, TRAP, ASSERT, STACK, STUCK };

__global__ void wrong(How how, unsigned in_block, unsigned in_thread, int *numbers, int zero)
{
    __shared__ int turn;
    turn = 1;
    __syncthreads();
    if (blockIdx.x == in_block && threadIdx.x == in_thread) {
        int *nowhere = reinterpret_cast<int *>(0x10ul + zero);
        switch (how) {
        case READ:
            numbers[0] = *nowhere; // the line of READ
            break;
        case WRITE:
            *nowhere = turn; // the line of WRITE
            break;
        case TRAP:
            __trap();
        case ASSERT:
            assert(zero == 1);
            break;
        case STACK:
            numbers[0] = deep(nullptr, 1000000);
            break;
        case STUCK:
            __syncwarp();
            return;
        default:
            break;
        }
    }
    __syncthreads();
    if (how == STUCK && blockIdx.x == in_block && threadIdx.x != in_thread)
        __syncwarp(1u << in_thread | 1u << threadIdx.x);
    atomicAdd(&numbers[1], 1);
}

int main(int, char **argv)
{
    const char *names[] = {"none", "read", "write", "trap", "assert", "stack", "stuck"};
    int how = 0, *numbers;
    while (strcmp(names[how], argv[1]))
        how++;
    cudaMallocManaged(&numbers, 8);
    numbers[1] = 0;
    wrong<<<6, 64>>>(How(how), atoi(argv[2]), atoi(argv[3]), numbers, 0);
    cudaError_t launched = cudaGetLastError(), ended = cudaDeviceSynchronize();
    wrong<<<1, 64>>>(NONE, 0, 0, numbers, 0);
    cudaError_t later = cudaGetLastError();
    printf("%d %s %s\n", launched, cudaGetErrorName(ended), cudaGetErrorName(later));
    cudaDeviceReset();
    cudaMallocManaged(&numbers, 8);
    numbers[1] = 0;
    wrong<<<6, 64>>>(NONE, 0, 0, numbers, 0);
    ended = cudaDeviceSynchronize();
    printf("%s %d\n", cudaGetErrorName(ended), numbers[1]);
    return 0;
}
