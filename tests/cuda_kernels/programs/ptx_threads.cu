/* Inline PTX with registers, labels, guards, memory, lanes and barriers; a line a thread of what it found. */
#include <cstdint>
#include <cstdio>
#include <cstring>

/* One step of a sum over a warp, as libraries write it. */
__device__ int step(int value, int distance)
{
    int result;
    asm volatile("{"
                 "  .reg .s32 r0;"
                 "  .reg .pred p;"
                 "  shfl.sync.down.b32 r0|p, %1, %2, %3, 0xffffffff;"
                 "  @p add.s32 r0, r0, %1;"
                 "  @!p mov.s32 r0, %1;"
                 "  mov.s32 %0, r0;"
                 "}"
                 : "=r"(result)
                 : "r"(value), "r"(distance), "r"(0x1f));
    return result;
}

/* A register has the name of a variable that an operand names. */
__device__ uint64_t swapped(uint64_t lo)
{
    uint64_t result;
    asm("{ .reg .u32 lo, hi;  mov.b64 {lo, hi}, %1;\n\t mov.b64 %0, {hi, lo}; }" : "=l"(result) : "l"(lo));
    return result;
}

/* Euclid's algorithm, with a loop. */
__device__ uint32_t divisor(uint32_t a, uint32_t b)
{
    uint32_t result;
    asm("{\n\t"
        ".reg .b32 t<3>;\n\t"
        ".reg .pred %%done;\n\t"
        "mov.b32 t0, %1;\n\t"
        "mov.b32 t1, %2;\n"
        "AGAIN:\n\t"
        "setp.eq.u32 %%done, t1, 0;\n\t"
        "@%%done bra READY;\n\t"
        "rem.u32 t2, t0, t1; // what is left\n\t"
        "mov.b32 t0, t1;\n\t"
        "mov.b32 t1, t2;\n\t"
        "bra.uni AGAIN;\n"
        "READY:\n\t"
        "mov.b32 %0, t0;\n\t"
        "}"
        : "=r"(result)
        : "r"(a), "r"(b));
    return result;
}

__global__ void threads(int (*out)[12])
{
    __shared__ int pool[64];
    extern __shared__ int4 dynamic[];
    int i = threadIdx.x, lane = i % 32, (&mine)[12] = out[i];
    int sum = i + 1;
    for (int d = 1; d < 32; d *= 2)
        sum = step(sum, d);
    mine[0] = sum;
    mine[1] = (int)(swapped((uint64_t)i << 32 | 7) >> 32);
    mine[2] = (int)divisor(360, 6 * (i + 1));
    /* shared memory by addresses of 32 bits */
    uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(&pool[i]));
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(i * i) : "memory");
    __syncthreads();
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(mine[3]) : "r"(at ^ 4));
    /* copies beside the threads: 16 bytes, of which 8 are read */
    uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(dynamic + i));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(out[0] + 0 * i), "r"(8) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group %0;" ::"n"(0) : "memory");
    int v[4];
    asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(to));
    mine[4] = (v[0] == out[0][0]) + 2 * (v[1] == out[0][1]) + 4 * (v[2] == 0) + 8 * (v[3] == 0);
    /* votes */
    unsigned votes, all;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 20; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(votes)
                 : "r"(lane));
    asm volatile("{ .reg .pred p, q; setp.ge.and.s32 p, %1, 0, 1; vote.sync.all.pred q, p, 0xffffffff;"
                 " selp.u32 %0, 5, 6, q; }"
                 : "=r"(all)
                 : "r"(lane));
    mine[5] = (int)votes;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(mine[6]) : "r"(lane / 8));
    asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(mine[7]) : "r"(lane ^ 5));
    mine[8] = (int)all;
    /* atomics in shared memory, and threads of the second warp that wait for the first one's */
    int old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&pool[0]))), "r"(1)
                 : "memory");
    mine[9] = old;
    if (i < 32)
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 64;" ::: "memory");
    asm volatile("bar.sync %0, %1;" ::"r"(2 + i / 32), "r"(32));
    __syncthreads();
    mine[10] = pool[0];
    mine[11] = -1;
    if (i % 3 == 1)
        asm volatile("exit;");
    __syncthreads();
    mine[11] = __syncthreads_count(1);
}

/* In even blocks some threads come to a barrier for which nobody waits; the next block's must not be counted with them. */
__global__ void early(int *done)
{
    if (threadIdx.x < (blockIdx.x % 2 ? 32 : 16))
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    else if (blockIdx.x % 2)
        asm volatile("bar.sync 3, 64;" ::: "memory");
    atomicAdd(done, 1);
}

/* Fewer than the barrier is for. */
__global__ void never(int *)
{
    if (threadIdx.x < 40)
        asm volatile("bar.sync 5, 64;" ::: "memory");
}

int main(int count, char **)
{
    int(*out)[12];
    cudaMallocManaged(&out, 64 * sizeof *out);
    if (count > 1) {
        **out = 0;
        early<<<8, 64>>>(*out);
        printf("%s ", cudaGetErrorName(cudaDeviceSynchronize()));
        printf("%d\n", **out);
        never<<<1, 64>>>(*out);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    threads<<<1, 64, 64 * 16>>>(out);
    fprintf(stderr, "%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 64; i++) {
        for (int value : out[i])
            printf("%d ", value);
        printf("\n");
    }
    return 0;
}
