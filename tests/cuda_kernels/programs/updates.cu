/* What groups do once for all of their threads: reductions and scans into atomic objects, and calls. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda/atomic>

namespace cg = cooperative_groups;
using Atomic = cuda::atomic<int, cuda::thread_scope_device>;

constexpr int SIZE = 8, BLOCKS = 2, THREADS = 64, ALL = BLOCKS * THREADS, TILES = ALL / SIZE;

struct Shared {
    Atomic sum, most, at, behind;
    int called, tiles[TILES];
    float last;
};

__global__ void updates(Shared *all, int (*out)[4])
{
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    const int own = blockIdx.x * THREADS + threadIdx.x, value = own * 7 % 13;
    int *mine = out[own];
    mine[0] = value;
    cg::reduce_update_async(tile, all->sum, value, cg::plus<int>());
    cuda::atomic_ref<float, cuda::thread_scope_device> last(all->last);
    cg::reduce_store_async(tile, last, 0.5f, cg::plus<float>());
    cg::reduce_update_async(tile, all->most, value + static_cast<int>(blockIdx.x), cg::greater<int>());
    cg::reduce_store_async(tile, &all->tiles[own / SIZE], value, cg::plus<int>());
    mine[1] = cg::exclusive_scan_update(tile, all->at, value);
    mine[2] = cg::inclusive_scan_update(tile, all->behind, value, cg::plus<int>());
    cg::invoke_one(tile, [&](int by) { atomicAdd(&all->called, by); }, 3);
    mine[3] = cg::invoke_one_broadcast(tile, [&] { return 100 + value; });
}

int main()
{
    Shared *all;
    int(*out)[4];
    cudaMallocManaged(&all, sizeof *all);
    cudaMallocManaged(&out, ALL * sizeof *out);
    cudaMemset(all, 0, sizeof *all);
    cudaDeviceSynchronize();
    all->sum.store(1000);
    updates<<<BLOCKS, THREADS>>>(all, out);
    fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d %d %d %d %d %g\n", all->sum.load(), all->most.load(), all->at.load(), all->behind.load(),
           all->called, all->last);
    for (int i = 0; i < TILES; i++)
        printf("%d%c", all->tiles[i], i + 1 < TILES ? ' ' : '\n');
    for (int i = 0; i < ALL; i++)
        printf("%d %d %d %d\n", out[i][0], out[i][1], out[i][2], out[i][3]);
    return 0;
}
