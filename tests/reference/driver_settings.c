/* What a context is set to, and what it tells about itself. */
#include <cuda.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

static void device(CUdevice device)
{
    CUdevprop prop;
    int value;
    CALL(cuDeviceGetProperties(&prop, device));
    CALL(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
    CHECK(prop.maxThreadsPerBlock == value && prop.SIMDWidth == 32);
    CHECK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, device, device)
          == CUDA_ERROR_INVALID_DEVICE);
}

static void primary(CUdevice device)
{
    unsigned int flags;
    int active;
    CUcontext context;
    CALL(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC));
    CALL(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(flags == CU_CTX_SCHED_BLOCKING_SYNC && active == 0);
    CALL(cuDevicePrimaryCtxRetain(&context, device));
    CALL(cuDevicePrimaryCtxGetState(device, &flags, &active));
    CHECK(active == 1);
    CALL(cuCtxSetCurrent(context));
}

static void context(void)
{
    CUcontext current, again;
    unsigned int version, flags;
    unsigned long long identity, same;
    int least, greatest;
    CALL(cuCtxGetCurrent(&current));
    CALL(cuCtxGetApiVersion(current, &version));
    CHECK(version >= 3020);
    CALL(cuCtxGetId(current, &identity));
    CALL(cuCtxGetId(NULL, &same));
    CHECK(identity == same);
    CALL(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
    CALL(cuCtxGetFlags(&flags));
    CHECK(flags == CU_CTX_SCHED_YIELD);
    CALL(cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest <= least);
    CALL(cuCtxAttach(&again, 0));
    CHECK(again == current);
    CALL(cuCtxDetach(again));
}

static void limits(void)
{
    size_t stack;
    CUfunc_cache cache;
    CUsharedconfig banks;
    CALL(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    CALL(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
    CHECK(stack == 2048);
    CHECK(cuCtxGetLimit(&stack, CU_LIMIT_SHMEM_SIZE) != CUDA_SUCCESS);
    CALL(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    CALL(cuCtxGetCacheConfig(&cache));
    CHECK(cache == CU_FUNC_CACHE_PREFER_L1);
    CALL(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
    CALL(cuCtxGetSharedMemConfig(&banks));
    CHECK(banks == CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    CALL(cuCtxResetPersistingL2Cache());
}

int main(void)
{
    CALL(cuInit(0));
    device(0);
    primary(0);
    CALL(cuProfilerStart());
    context();
    limits();
    CALL(cuProfilerStop());
    CALL(cuDevicePrimaryCtxReset(0));
    printf("ok\n");
    return 0;
}
