// Threads that meet: barriers with threads that have left, votes, shuffles.
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Each thread meets the others `rounds` times, as long as it is there; it leaves at its own turn. */
__global__ void leaving(const int *rounds, int *seen) {
    __shared__ int arrived;
    if (threadIdx.x == 0 && threadIdx.y == 0)
        arrived = 0;
    __syncthreads();
    int me = threadIdx.y * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds[me]; round++) {
        atomicAdd(&arrived, 1);
        __syncthreads();
        seen[blockIdx.x * blockDim.x * blockDim.y + me] = arrived;
        __syncthreads();
    }
}

__global__ void votes(const int *x, int *out) {
    int t = threadIdx.x;
    int count = __syncthreads_count(x[t] > 2), every = __syncthreads_and(x[t] >= 0),
        some = __syncthreads_or(x[t] > 100);
    out[t] = count * 100 + every * 10 + some;
}

__global__ void shuffles(const int *x, int *out, int n) {
    int t = threadIdx.x;
    unsigned all = __ballot_sync(~0u, 1);
    out[0 * n + t] = __shfl_sync(all, x[t], 5, 16);
    out[1 * n + t] = __shfl_up_sync(all, x[t], 3);
    out[2 * n + t] = __shfl_down_sync(all, x[t], 2, 8);
    out[3 * n + t] = __shfl_xor_sync(all, x[t], 1);
    out[4 * n + t] = static_cast<int>(__ballot_sync(all, x[t] & 1));
}

__global__ void stuck() {
    if (threadIdx.x == 0)
        __syncwarp(~0u);
    else
        __syncthreads();
}

static std::vector<int> numbers(int count, char **words) {
    std::vector<int> found;
    for (int i = 0; i < count; i++)
        found.push_back(atoi(words[i]));
    return found;
}

int main(int argc, char **argv) {
    std::vector<int> given = numbers(argc - 4, argv + 4);
    int width = atoi(argv[2]), height = atoi(argv[3]), n = static_cast<int>(given.size());
    int *x, *out;
    cudaMalloc(&x, 1 << 16), cudaMalloc(&out, 1 << 20);
    cudaMemset(out, 0, 1 << 20);
    cudaMemcpy(x, given.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    int results = n;
    switch (argv[1][0]) {
    case 'l':
        leaving<<<3, dim3(width, height)>>>(x, out);
        results = 3 * n;
        break;
    case 'v':
        votes<<<1, n>>>(x, out);
        break;
    case 's':
        shuffles<<<1, n>>>(x, out, n);
        results = 5 * n;
        break;
    default:
        stuck<<<1, 4>>>();
    }
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 2;
    std::vector<int> host(results);
    cudaMemcpy(host.data(), out, results * sizeof(int), cudaMemcpyDeviceToHost);
    for (int value : host)
        printf("%d ", value);
    return 0;
}
