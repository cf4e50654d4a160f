// Kernels against the same work as OpenMP loops, in turns in one process. Prints "name ns ns": a thread's time in
// the kernel, and in the loop; of empty launches the microseconds of one.
#include <algorithm>
#include <chrono>
#include <cstdio>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

static void plain_add(const float *a, const float *b, float *c, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

constexpr int TILE = 32;

__global__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

static void plain_multiply(const float *a, const float *b, float *c, int n)
{
#pragma omp parallel for
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[row * n + k] * b[k * n + column];
            c[row * n + column] = sum;
        }
}

constexpr int WIDE = 256;

__global__ void reduce(const float *in, float *out)
{
    __shared__ float s[WIDE];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * WIDE + t];
    __syncthreads();
    for (int k = WIDE / 2; k > 0; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

static void plain_reduce(const float *in, float *out, int blocks)
{
#pragma omp parallel for
    for (int block = 0; block < blocks; block++) {
        float s[WIDE];
        std::copy_n(in + block * WIDE, WIDE, s);
        for (int k = WIDE / 2; k > 0; k /= 2)
            for (int t = 0; t < k; t++)
                s[t] += s[t + k];
        out[block] = s[0];
    }
}

__global__ void turn(const int *in, int *out)
{
    __shared__ int s[WIDE];
    int t = threadIdx.x, i = blockIdx.x * WIDE + t;
    s[t] = in[i];
    __syncthreads();
    int other = s[WIDE - 1 - t];
    __syncthreads();
    out[i] = other;
}

static void plain_turn(const int *in, int *out, int blocks)
{
#pragma omp parallel for
    for (int block = 0; block < blocks; block++)
        for (int t = 0; t < WIDE; t++)
            out[block * WIDE + t] = in[block * WIDE + WIDE - 1 - t];
}

template <class Kernel, class Plain> static void compare(const char *name, int threads, Kernel kernel, Plain plain)
{
    double best[2] = {1e9, 1e9};
    double end = now() + 1;
    for (int i = 0; i < 5 || (i < 100 && now() < end); i++) {
        double begin = now();
        kernel();
        cudaDeviceSynchronize();
        double middle = now();
        plain();
        best[0] = std::min(best[0], middle - begin);
        best[1] = std::min(best[1], now() - middle);
    }
    printf("%s %.4f %.4f\n", name, best[0] * 1e9 / threads, best[1] * 1e9 / threads);
}

__global__ void nothing() {}

static void launches(const char *name, bool wait)
{
    const int count = 2000;
    double best = 1e9;
    for (int i = 0; i < 7; i++) {
        double begin = now();
        for (int j = 0; j < count; j++) {
            nothing<<<1, 1>>>();
            if (wait)
                cudaDeviceSynchronize();
        }
        cudaDeviceSynchronize();
        best = std::min(best, now() - begin);
    }
    printf("%s %.4f 0\n", name, best * 1e6 / count);
}

int main()
{
    launches("launch", false);
    launches("wait", true);
    const int n = 1 << 22, side = 512, blocks = n / WIDE;
    float *a, *b, *c;
    cudaMallocManaged(&a, n * sizeof(float));
    cudaMallocManaged(&b, n * sizeof(float));
    cudaMallocManaged(&c, n * sizeof(float));
    for (int i = 0; i < n; i++)
        a[i] = i % 7, b[i] = i % 5;
    const int *in = reinterpret_cast<int *>(a);
    int *out = reinterpret_cast<int *>(c);
    compare("add", n, [&] { add<<<n / 256, 256>>>(a, b, c, n); }, [&] { plain_add(a, b, c, n); });
    compare("multiply", side * side,
            [&] { multiply<<<dim3(side / TILE, side / TILE), dim3(TILE, TILE)>>>(a, b, c, side); },
            [&] { plain_multiply(a, b, c, side); });
    compare("reduce", n, [&] { reduce<<<blocks, WIDE>>>(a, c); }, [&] { plain_reduce(a, c, blocks); });
    compare("turn", n, [&] { turn<<<blocks, WIDE>>>(in, out); }, [&] { plain_turn(in, out, blocks); });
    for (int i = 0; i < n; i++)
        if (out[i] != in[i / WIDE * WIDE + WIDE - 1 - i % WIDE])
            return 1;
    return 0;
}
