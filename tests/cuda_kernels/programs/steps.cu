// What counts on lanes of a warp that run in step, without __syncwarp: prints what the test computes, too.
#include <cstdio>
#include <vector>

constexpr int N = 128;

// A sum as programs had it before there was __syncwarp.
__device__ void warp_sum(volatile int *s, int t)
{
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

__global__ void sum(const int *x, int *out)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32)
        warp_sum(s, t);
    if (t == 0)
        out[0] = s[0];
}

// The same where the kernel has barriers: behind the last of them.
__global__ void whole(const int *x, int *out)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = N / 2; k >= 32; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t < 32) {
        volatile int *last = s;
        last[t] += last[t + 16];
        last[t] += last[t + 8];
        last[t] += last[t + 4];
        last[t] += last[t + 2];
        last[t] += last[t + 1];
    }
    if (t == 0)
        out[0] = s[0];
}

// Every lane reads what the one before it has just stored.
__device__ int warp_scan(int value, volatile int *s)
{
    int at = 2 * threadIdx.x - (threadIdx.x & 31);
    s[at] = 0;
    at += 32;
    int t = s[at] = value;
    s[at] = t += s[at - 1];
    s[at] = t += s[at - 2];
    s[at] = t += s[at - 4];
    s[at] = t += s[at - 8];
    s[at] = t += s[at - 16];
    return s[at];
}

__global__ void scan(const int *x, int *out)
{
    __shared__ int s[2 * N];
    out[threadIdx.x] = warp_scan(x[threadIdx.x], s);
}

// An array in shared memory, and nothing that waits.
__global__ void turn(const int *x, int *out)
{
    __shared__ int s[N];
    int *own = &s[threadIdx.x];
    for (int i = 0; i < 2; i++) {
        *own = x[threadIdx.x] + i;
        if (threadIdx.x % 2)
            out[threadIdx.x] = s[threadIdx.x - 1];
        else
            out[threadIdx.x] = s[threadIdx.x + 1];
    }
}

// One lane alone behind all others.
__global__ void last(const int *x, int *all, int *out)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = lane; i < 64; i += 32)
        all[64 * warp + i] = x[threadIdx.x] * i;
    if (lane == 0 && warp >= 0) {
        int sum = 0;
        for (int i = 0; i < 64; i++)
            sum += all[64 * warp + i];
        out[warp] = sum;
    }
}

// A lane waits for what another one stores.
__global__ void flag(int *out)
{
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    __syncthreads();
    while (t != N - 1 && ready == 0)
        ;
    if (t == N - 1)
        ready = 7;
    out[t] = ready;
}

// One lane asks who is there, the others wait elsewhere: it goes on by itself, from where it is.
__device__ int down(volatile int *s, int n)
{
    s[n] = n;
    int here = __activemask();
    return n ? down(s, n - 1) + here : here;
}

__global__ void alone(int *out)
{
    if (threadIdx.x == 5)
        out[0] = down(out + 1, 9);
    __syncthreads();
}

// Nothing tells: in step only where all functions are.
__global__ void shift(int *x)
{
    int found = x[threadIdx.x ^ 1];
    x[threadIdx.x] = found + 100;
    x[threadIdx.x] += x[threadIdx.x ^ 3];
}

int main()
{
    int *x, *out, *all;
    cudaMallocManaged(&x, N * sizeof(int));
    cudaMallocManaged(&out, N * sizeof(int));
    cudaMallocManaged(&all, 2 * N * sizeof(int));
    for (int i = 0; i < N; i++)
        x[i] = i * i % 101;
    auto show = [&](const char *name, const int *from, int n) {
        cudaDeviceSynchronize();
        printf("%s", name);
        for (int i = 0; i < n; i++)
            printf(" %d", from[i]);
        printf("\n");
    };
    sum<<<1, N>>>(x, out);
    show("sum", out, 1);
    whole<<<1, N>>>(x, out);
    show("whole", out, 1);
    scan<<<1, N>>>(x, out);
    show("scan", out, N);
    turn<<<1, N>>>(x, out);
    show("turn", out, N);
    last<<<1, N>>>(x, all, out);
    show("last", out, N / 32);
    flag<<<1, N>>>(out);
    show("flag", out, N);
    alone<<<1, N>>>(out);
    show("alone", out, 11);
    shift<<<1, N>>>(x);
    show("shift", x, N);
    return cudaDeviceSynchronize();
}
