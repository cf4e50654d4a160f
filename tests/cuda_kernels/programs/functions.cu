// Functions of the CUDA Math API that the C library has not: "function arguments" a line in, its value out.
#include <cuda_fp16.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Case {
    char name[24];
    double a[4];
    long long n[3];
};

__global__ void real(const Case *all, double *to, int count)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    const Case &c = all[at];
    const double *a = c.a;
    const char *name = c.name;
    double found = 0, other;
    float singles[2] = {(float)a[0], (float)a[1]};
#define F(f, call)                                                                                 \
    if (strcmp(name, #f) == 0)                                                                     \
        found = call;
    F(sinpi, sinpi(a[0])) F(cospi, cospi(a[0])) F(erfinv, erfinv(a[0])) F(erfcinv, erfcinv(a[0]))
    F(normcdf, normcdf(a[0])) F(normcdfinv, normcdfinv(a[0])) F(erfcx, erfcx(a[0])) F(rcbrt, rcbrt(a[0]))
    F(rhypot, rhypot(a[0], a[1])) F(norm3d, norm3d(a[0], a[1], a[2])) F(rnorm4d, rnorm4d(a[0], a[1], a[2], a[3]))
    F(norm, norm(4, a)) F(normf, normf(2, singles))
    F(cyl_bessel_i0, cyl_bessel_i0(a[0])) F(cyl_bessel_i1f, cyl_bessel_i1f((float)a[0]))
    F(sincospi, (sincospi(a[0], &found, &other), found + 2 * other))
    F(erfinvf, erfinvf((float)a[0])) F(double2float_rz, __double2float_rz(a[0])) F(double2float_ru, __double2float_ru(a[0]))
    F(ll2float_rd, __ll2float_rd(c.n[0])) F(ull2double_ru, __ull2double_ru((unsigned long long)c.n[0]))
    F(uint2float_rz, __uint2float_rz((unsigned)c.n[0])) F(hiloint2double, __hiloint2double((int)c.n[0], (int)c.n[1]))
    to[at] = found;
}

__global__ void whole(const Case *all, long long *to, int count)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    const Case &c = all[at];
    const char *name = c.name;
    int x = (int)c.n[0], y = (int)c.n[1], z = (int)c.n[2];
    unsigned ux = (unsigned)x, uy = (unsigned)y, uz = (unsigned)z;
    float f = (float)c.a[0];
    long long found = 0;
    F(dp4a, __dp4a(x, y, z)) F(dp4a_u, __dp4a(ux, uy, uz)) F(dp2a_lo, __dp2a_lo(x, y, z)) F(dp2a_hi_u, __dp2a_hi(ux, uy, uz))
    F(hadd, __hadd(x, y)) F(rhadd, __rhadd(x, y)) F(uhadd, __uhadd(ux, uy)) F(urhadd, __urhadd(ux, uy))
    F(funnelshift_lc, __funnelshift_lc(ux, uy, uz)) F(funnelshift_rc, __funnelshift_rc(ux, uy, uz))
    F(brevll, (long long)__brevll((unsigned long long)c.n[0])) F(fns, __fns(ux, uy, z)) F(popcll, __popcll((unsigned long long)c.n[0]))
    F(float2int_rn, __float2int_rn(f)) F(float2ll_rd, __float2ll_rd(f)) F(double2int_ru, __double2int_ru(c.a[0]))
    F(double2uint_rz, __double2uint_rz(c.a[0])) F(double2ull_rn, (long long)__double2ull_rn(c.a[0]))
    F(float2uint_ru, __float2uint_ru(f))
    to[at] = found;
}

__global__ void lanes(int *to, __half *half, __half2 *halves)
{
    int all, lane = threadIdx.x % 32;
    unsigned same = __match_all_sync(~0u, 7.5, &all);
    to[0] = same == ~0u && all == 1;
    same = __match_all_sync(~0u, lane / 31, &all);
    to[1] = same == 0 && all == 0;
    to[2] = __uni_sync(~0u, 0) && __uni_sync(~0u, 3) && !__uni_sync(~0u, lane == 4);
    atomicAdd(half, __half(0.5f));
    atomicAdd(halves, __floats2half2_rn(1.0f, -2.0f));
}

/* A block of ten threads: the other lanes of the warp are not there. */
__global__ void few(int *to)
{
    int all;
    unsigned same = __match_all_sync(~0u, 3, &all);
    if (threadIdx.x == 0) to[3] = same == 0x3ff && all == 1;
}

int main()
{
    static Case host[4096];
    int count = 0;
    Case c = {};
    while (scanf("%23s %lf %lf %lf %lf %lld %lld %lld", c.name, &c.a[0], &c.a[1], &c.a[2], &c.a[3], &c.n[0], &c.n[1],
                 &c.n[2]) == 8 && count < 4096)
        host[count++] = c;
    Case *all;
    double *reals;
    long long *wholes;
    int *told;
    cudaMallocManaged(&all, sizeof host);
    cudaMallocManaged(&reals, 4096 * sizeof *reals);
    cudaMallocManaged(&wholes, 4096 * sizeof *wholes);
    cudaMallocManaged(&told, 64);
    memcpy(all, host, sizeof host);
    real<<<(count + 63) / 64, 64>>>(all, reals, count);
    whole<<<(count + 63) / 64, 64>>>(all, wholes, count);
    cudaDeviceSynchronize();
    for (int i = 0; i < count; i++)
        printf("%.17g %lld\n", reals[i], wholes[i]);
    __half *half;
    __half2 *halves;
    cudaMallocManaged(&half, 4);
    cudaMallocManaged(&halves, 4);
    *half = 0.0f, *halves = __floats2half2_rn(0, 0);
    lanes<<<4, 32>>>(told, half, halves);
    few<<<1, 10>>>(told);
    cudaDeviceSynchronize();
    printf("%d %d %d %d %g %g %g\n", told[0], told[1], told[2], told[3], (float)*half, (float)halves->x, (float)halves->y);
    __half2 a = __floats2half2_rn(1.0f, NAN), b = __floats2half2_rn(0.5f, 2.0f);
    printf("%08x %08x %d\n", __hgt2_mask(a, b), __hgtu2_mask(a, b), __hbgtu2(a, b));
    return 0;
}
