// Kernels whose threads all meet the same barriers, in many forms. Prints "name numbers"; the test computes them anew.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int N = 96, BLOCKS = 3;
enum { HALF = N / 2 };
__device__ int factor = 3;
__constant__ int limits[4] = {2, 5, 7, 11};

struct Pair {
    int a, b;
    __device__ int sum() const { return a + b; }
};

struct Counted { /* nothing trivial about it */
    int value;
    __device__ Counted() : value(5) {}
    __device__ Counted(int of) : value(of) {}
    __device__ Counted(const Counted &other) : value(other.value) {}
};

__device__ void increment(int &what) { what++; }
__device__ int twice(int what) { return 2 * what; }

// A value for each thread, then its neighbour's.
__global__ void neighbours(const int *in, int *out)
{
    __shared__ int s[N];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int own = in[i];
    s[t] = own;
    __syncthreads();
    out[i] = own * 1000 + s[(t + 1) % N];
}

// Sums within a block; the dynamic memory's size is the launch's.
template <class T> __global__ void sums(const T *in, T *out)
{
    extern __shared__ char raw[];
    T *s = reinterpret_cast<T *>(raw);
    unsigned int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * blockDim.x + tid];
    __syncthreads();
    unsigned int n = blockDim.x;
    while (n > 1) {
        unsigned int half = (n + 1) / 2;
        if (tid < n / 2)
            s[tid] += s[tid + half];
        __syncthreads();
        n = half;
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}

// Some threads return before the barrier.
__global__ void early(const int *in, int *out, int n)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = -1;
    __syncthreads();
    int i = blockIdx.x * N + t;
    if (i >= n || t % 5 == 4)
        return;
    else
        s[t] = in[i];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < N; k++) {
        if (k == HALF)
            continue;
        sum += s[k];
    }
    out[i] = sum;
}

// Loops with barriers, one in another, left and gone on with by all.
__global__ void loops(const int *in, int *out, int rounds)
{
    __shared__ int a[N], b[N];
    int t = threadIdx.x, i;
    i = blockIdx.x * N + t;
    int *from = a, *to = b;
    a[t] = in[i];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (r == 1)
            continue;
        int turn = r + 1;
        do {
            to[t] = from[(t + turn) % N] + r;
            __syncthreads();
            int *kept = from;
            from = to;
            to = kept;
            turn -= 2;
        } while (turn > 0);
        if (limits[r & 3] + r > 13)
            break;
    }
    out[i] = from[t];
}

// Parameters that change, arrays, pairs, classes, references and what the compiler finds the type of.
__global__ void kinds(const int *in, int *out, int n)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    in += blockIdx.x * N;
    out += blockIdx.x * N;
    n += t;
    int parts[2][2] = {{t, 1}, {2, n}}, unset[2];
    Pair pair{in[t], t};
    Counted counted(t), fresh;
    auto value = in[t] * 2L;
    const int kept = in[N - 1 - t];
    int grown = kept, *place = &grown;
    increment(grown);
    unset[0] = t;
    unset[1] = 7;
    s[t] = twice(pair.sum());
    __syncthreads();
    fresh.value += counted.value;
    *place += 10;
    for (int row = 0; row < 2; row++)
        for (int column = 0; column < 2; column++)
            unset[1] += parts[row][column];
    out[t] = n + pair.a + fresh.value + int(value) + kept + grown + unset[0] + unset[1] + s[N - 1 - t];
}

// A barrier that all come to or none, by the block.
__global__ void either(const int *in, int *out)
{
    __shared__ int s[N];
    __shared__ int mode;
    cg::thread_block block = cg::this_thread_block();
    unsigned t = block.thread_rank();
    int i = blockIdx.x * N + t;
    if (t == 0)
        mode = blockIdx.x;
    cg::sync(block);
    if (mode == 1) {
        s[t] = in[i];
        block.sync();
        out[i] = s[N - 1 - t];
    } else if (mode == 2)
        out[i] = in[i] * factor;
    else {
        s[N - 1 - t] = in[i];
        __syncthreads();
        if (t < HALF && t > 3)
            out[i] = s[t];
        else
            out[i] = -s[t];
    }
}

// Threads in three dimensions.
__global__ void solid(const int *in, int *out)
{
    __shared__ int s[3][4][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int i = ((blockIdx.x * 3 + z) * 4 + y) * 8 + x;
    s[z][y][x] = in[i];
    __syncthreads();
    if (threadIdx.x < 6)
        s[z][y][x] += 100;
    __syncthreads();
    int sum = s[2 - z][3 - y][7 - x];
    if (5 == x)
        sum = -sum;
    out[i] = sum;
}

// A barrier that depends on the thread: each has a stack of its own.
__global__ void apart(const int *in, int *out)
{
    __shared__ int s[N];
    int t = threadIdx.x, i = blockIdx.x * N + t, sum = 0;
    s[t] = in[i];
    for (int k = t; k < N + t; k++) {
        __syncthreads();
        sum += s[k % N] * (k - t);
    }
    out[i] = sum;
}

static void show(const char *name, const int *out, int count)
{
    printf("%s", name);
    for (int i = 0; i < count; i++)
        printf(" %d", out[i]);
    printf("\n");
}

int main()
{
    int *in, *out;
    cudaMallocManaged(&in, N * BLOCKS * sizeof(int));
    cudaMallocManaged(&out, N * BLOCKS * sizeof(int));
    for (int i = 0; i < N * BLOCKS; i++) {
        in[i] = i * i % 101;
        out[i] = 0;
    }
#define RUN(name, count, ...)                                                                                          \
    __VA_ARGS__;                                                                                                       \
    cudaDeviceSynchronize();                                                                                           \
    show(#name, out, count)
    RUN(neighbours, N * BLOCKS, neighbours<<<BLOCKS, N>>>(in, out));
    RUN(sums, BLOCKS, sums<int><<<BLOCKS, N, N * sizeof(int)>>>(in, out));
    cudaMemset(out, 0, N * BLOCKS * sizeof(int));
    RUN(early, N * BLOCKS, early<<<BLOCKS, N>>>(in, out, 250));
    RUN(loops, N * BLOCKS, loops<<<BLOCKS, N>>>(in, out, 6));
    RUN(kinds, N * BLOCKS, kinds<<<BLOCKS, N>>>(in, out, 4));
    RUN(either, N * BLOCKS, either<<<BLOCKS, N>>>(in, out));
    RUN(solid, N * BLOCKS, solid<<<BLOCKS, dim3(8, 4, 3)>>>(in, out));
    RUN(apart, N * BLOCKS, apart<<<BLOCKS, N>>>(in, out));
    return cudaGetLastError();
}
