// Words as halves and bytes, nvcc's atomic functions, names of older headers, complex numbers.
#include <cuComplex.h>
#include <cstdio>
#include <device_functions.h>
#include <device_launch_parameters.h>
#include <math_constants.h>

typedef unsigned (*Two)(unsigned, unsigned);

#define EACH(of, more)                                                                                             \
    of(vadd, more) of(vaddss, more) of(vaddus, more) of(vsub, more) of(vsubss, more) of(vsubus, more)              \
    of(vavgs, more) of(vavgu, more) of(vhaddu, more) of(vmaxs, more) of(vmaxu, more) of(vmins, more)               \
    of(vminu, more) of(vabsdiffs, more) of(vabsdiffu, more) of(vsads, more) of(vsadu, more) of(vcmpeq, more)       \
    of(vcmpgts, more) of(vcmpgtu, more) of(vcmples, more) of(vcmpleu, more) of(vsetne, more) of(vsetlts, more)     \
    of(vsetgeu, more)

#define VALUE(name, width) out[at++] = __##name##width(a, b);
__global__ void words(unsigned a, unsigned b, unsigned *out)
{
    int at = 0;
    EACH(VALUE, 2)
    EACH(VALUE, 4)
    out[at++] = __vabs2(a), out[at++] = __vabsss2(a), out[at++] = __vneg4(a), out[at++] = __vnegss4(a);
}

__global__ void count(unsigned *shared, int *most, long long *last)
{
    __nv_atomic_fetch_add(shared, 2u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_max(most, (int)threadIdx.x - 5, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    long long seen = __nv_atomic_load_n(last, __NV_ATOMIC_RELAXED);
    while (!__nv_atomic_compare_exchange_n(last, &seen, seen + threadIdx.x, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED))
        ;
    __stcs(shared + 1, __ldcs(shared + 1) | 1u);
}

#define NAME(name, width) printf("%s" #width " %x\n", #name, out[at++]);
int main(int argc, char **argv)
{
    unsigned *out, a, b;
    cudaMallocManaged(&out, 64 * sizeof *out);
    cudaDeviceSetCacheConfig(cudaFuncCachePreferL1);
    cudaFuncCache kept;
    cudaThreadGetCacheConfig(&kept);
    if (argc < 3 || sscanf(argv[1], "%x", &a) != 1 || sscanf(argv[2], "%x", &b) != 1)
        return 1;
    words<<<1, 1>>>(a, b, out);
    cudaThreadSynchronize();
    int at = 0;
    EACH(NAME, 2)
    EACH(NAME, 4)
    printf("vabs2 %x\nvabsss2 %x\nvneg4 %x\nvnegss4 %x\n", out[at], out[at + 1], out[at + 2], out[at + 3]);
    int *most;
    long long *last;
    cudaMallocManaged(&most, sizeof *most);
    cudaMallocManaged(&last, sizeof *last);
    out[0] = out[1] = 0;
    count<<<3, 64>>>(out, most, last);
    cudaDeviceSynchronize();
    printf("counted %u %u %d %lld\n", out[0], out[1], *most, *last);
    cuDoubleComplex q = cuCdiv(make_cuDoubleComplex(3, 4), make_cuDoubleComplex(1, -2));
    cuFloatComplex p = cuCmulf(make_cuComplex(3, 4), cuConjf(make_cuFloatComplex(1, -2)));
    printf("complex %.15g %.15g %g %g %g\n", q.x, q.y, p.x, p.y, cuCabs(make_cuDoubleComplex(3, 4)));
    printf("constants %d %d %d\n", CUDART_PI_F == 3.14159265f, kept, isinf(CUDART_INF) != 0);
    return 0;
}
