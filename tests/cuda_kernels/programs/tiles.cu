/* Tiles of 16 to 512 threads: what each thread gets from a reduction and from scans. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

constexpr int BLOCKS = 3, THREADS = 512, ALL = BLOCKS * THREADS;

template <int N> __global__ void tiles(const int *in, int (*out)[5])
{
    __shared__ cg::block_tile_memory<THREADS> memory;
    extern __shared__ int values[];
    auto block = cg::this_thread_block(memory);
    cg::memcpy_async(block, values, in + blockIdx.x * THREADS, sizeof(int) * THREADS);
    cg::wait(block);
    auto tile = cg::tiled_partition<N>(block);
    int value = values[block.thread_rank()], *mine = out[blockIdx.x * THREADS + threadIdx.x];
    mine[0] = cg::reduce(tile, value, cg::plus<int>());
    mine[1] = cg::reduce(tile, value, cg::less<int>());
    mine[2] = cg::inclusive_scan(tile, value);
    mine[3] = cg::exclusive_scan(tile, value);
    tile.sync();
    mine[4] = tile.any(value == 3) * 2 + tile.all(value < 90);
}

template <int N> static void run(int seed)
{
    int *in, (*out)[5];
    cudaMallocManaged(&in, ALL * sizeof *in);
    cudaMallocManaged(&out, ALL * sizeof *out);
    for (int i = 0; i < ALL; i++)
        in[i] = (i * 37 + seed) % 97;
    tiles<N><<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(in, out);
    fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < ALL; i++)
        printf("%d %d %d %d %d %d\n", in[i], out[i][0], out[i][1], out[i][2], out[i][3], out[i][4]);
}

int main(int, char **words)
{
    int seed = atoi(words[2]);
    switch (atoi(words[1])) {
    case 16: run<16>(seed); break;
    case 32: run<32>(seed); break;
    case 64: run<64>(seed); break;
    case 128: run<128>(seed); break;
    default: run<512>(seed);
    }
    return 0;
}
