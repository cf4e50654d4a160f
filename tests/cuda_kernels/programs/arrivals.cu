// Barriers that are arrived at and waited for apart, pipelines, atomics, matrices of a warp.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <cstdio>

namespace cg = cooperative_groups;
using namespace nvcuda;

// The sum of each 64 numbers, brought by chunks into two stages of shared memory.
__global__ void staged(const int *from, int *to, int chunks)
{
    __shared__ alignas(16) int room[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0, filled = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
        for (; filled < chunks && filled < chunk + 2; filled++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, room[filled % 2], from + filled * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += room[chunk % 2][63 - threadIdx.x];
        pipe.consumer_release();
    }
    to[threadIdx.x] = sum;
}

// One warp brings, the other takes.
__global__ void roles(const int *from, int *to, int chunks)
{
    __shared__ int room[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    int sum = 0;
    for (int chunk = 0; chunk < chunks; chunk++)
        if (threadIdx.x < 32) {
            pipe.producer_acquire();
            room[chunk % 2][threadIdx.x] = from[chunk * 32 + threadIdx.x];
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += room[chunk % 2][63 - threadIdx.x];
            pipe.consumer_release();
        }
    if (threadIdx.x >= 32)
        to[threadIdx.x - 32] = sum;
}

// Arrives, does something else, waits.
__global__ void apart(int *to, int rounds)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[96], copied[96];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    int own = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        s[threadIdx.x] = own;
        auto token = bar.arrive();
        own += 1;
        bar.wait(std::move(token));
        own += s[(threadIdx.x + 1) % 96];
        bar.arrive_and_wait();
    }
    s[threadIdx.x] = own;
    bar.arrive_and_wait();
    cuda::memcpy_async(cg::this_thread_block(), copied, s, cuda::aligned_size_t<4>(sizeof(s)), bar);
    bar.arrive_and_wait();
    to[threadIdx.x] = copied[95 - threadIdx.x];
}

// The functions and classes that came before those: copies of which bytes are left out, arrivals that tell what is pending.
__global__ void primitives(const int *from, int *to)
{
    __shared__ alignas(16) int room[64 * 4];
    __shared__ __mbarrier_t first;
    __shared__ experimental::awbarrier second;
    __shared__ unsigned pending;
    unsigned t = threadIdx.x;
    if (t == 0) {
        __mbarrier_init(&first, 64);
        init(&second, 64);
        pending = 0;
    }
    __syncthreads();
    __pipeline_memcpy_async(room + 4 * t, from + 4 * t, 16, t % 4 * 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __pipeline_arrive_on(&first);
    __mbarrier_token_t token = __mbarrier_arrive(&first);
    unsigned more;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(more) : "l"(token));
    atomicAdd(&pending, __mbarrier_token_pending_count(token) + more);
    while (!__mbarrier_test_wait(&first, token))
        ;
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += room[(4 * t + 7 + i) % 256];
    second.arrive_and_wait();
    experimental::pipeline pipe;
    memcpy_async(room[t], sum, pipe);
    memcpy_async(experimental::segment<4>(room + 64 + 4 * (t % 32)), experimental::segment<2>(from + 2 * (t % 32)), pipe);
    pipe.commit_and_wait();
    second.wait(second.arrive());
    to[t] = room[63 - t];
    to[64 + t] = room[64 + t];
    if (t == 0)
        to[128] = pending;
}

__device__ cuda::atomic<int, cuda::thread_scope_device> counted{0};

__global__ void counts(int *to)
{
    counted.fetch_add(2, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(to[0]), least(to[1]), most(to[2]), bits(to[3]);
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    sum += t;
    least.fetch_min(t - 7);
    most.fetch_max(t);
    bits.fetch_or(1 << t % 20);
    int seen = to[4];
    cuda::atomic_ref<int> square(to[4]);
    seen = square.load();
    while (!square.compare_exchange_weak(seen, seen + t * t))
        ;
    __syncthreads();
    if (t == 0)
        to[5] = counted.load() > 0;
}

template <class A, class C, int M, int N, int K, class LayoutA, class LayoutB>
__global__ void multiplies(const A *a, const A *b, C *c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, A, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, A, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    bool rows = std::is_same<LayoutA, wmma::row_major>::value;
    wmma::fill_fragment(fc, C(0));
    for (int k = 0; k < 2; k++) { // A is M x 2K, B 2K x N
        wmma::load_matrix_sync(fa, a + (rows ? k * K : k * K * M), rows ? 2 * K : M);
        bool columns = std::is_same<LayoutB, wmma::col_major>::value;
        wmma::load_matrix_sync(fb, b + (columns ? k * K : k * K * N), columns ? 2 * K : N);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] + fc.x[i];
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

template <class A, class C, int M, int N, int K, class LayoutA, class LayoutB> void product(const char *name)
{
    A *a, *b;
    C *c;
    cudaMallocManaged(&a, M * 2 * K * sizeof(A));
    cudaMallocManaged(&b, N * 2 * K * sizeof(A));
    cudaMallocManaged(&c, M * N * sizeof(C));
    for (int i = 0; i < M * 2 * K; i++)
        a[i] = A(float(i * 7 % 11));
    for (int i = 0; i < N * 2 * K; i++)
        b[i] = A(float(i * 5 % 13));
    multiplies<A, C, M, N, K, LayoutA, LayoutB><<<1, 32>>>(a, b, c);
    cudaDeviceSynchronize();
    printf("%s", name);
    for (int i = 0; i < M * N; i++)
        printf(" %d", int(float(c[i])));
    printf("\n");
}

int main()
{
    int *from, *to;
    cudaMallocManaged(&from, 4096);
    cudaMallocManaged(&to, 4096);
    for (int i = 0; i < 640; i++)
        from[i] = i * i % 101;
    auto show = [&](const char *name, int count) {
        printf("%s", name);
        if (cudaError_t error = cudaDeviceSynchronize())
            printf(" %s", cudaGetErrorName(error));
        for (int i = 0; i < count; i++)
            printf(" %d", to[i]);
        printf("\n");
    };
    staged<<<1, 64>>>(from, to, 10);
    show("staged", 64);
    roles<<<1, 64>>>(from, to, 20);
    show("roles", 32);
    apart<<<1, 96>>>(to, 3);
    show("apart", 96);
    primitives<<<1, 64>>>(from, to);
    show("primitives", 129);
    for (int i = 0; i < 8; i++)
        to[i] = 0;
    counts<<<4, 64>>>(to);
    show("counts", 6);
    product<half, float, 16, 16, 16, wmma::row_major, wmma::col_major>("half");
    product<__nv_bfloat16, float, 32, 8, 16, wmma::col_major, wmma::row_major>("bf16");
    product<signed char, int, 8, 32, 16, wmma::row_major, wmma::row_major>("int8");
    product<double, double, 8, 8, 4, wmma::row_major, wmma::col_major>("double");
    return 0;
}
