/* Devices, their settings and their peers: what the runtime answers of a board. */
#include <cuda_runtime_api.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

static void versions(void)
{
    int driver, runtime;
    CALL(cudaDriverGetVersion(&driver));
    CALL(cudaRuntimeGetVersion(&runtime));
    CHECK(runtime == CUDART_VERSION);
    CHECK(driver >= runtime);
}

static void choice(void)
{
    struct cudaDeviceProp wanted, found;
    int device = -1, current = -1, list[1] = {0};
    memset(&wanted, 0, sizeof wanted);
    wanted.major = 8;
    CALL(cudaChooseDevice(&device, &wanted));
    CALL(cudaSetValidDevices(list, 1));
    CALL(cudaInitDevice(device, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
    CALL(cudaSetDevice(device));
    CALL(cudaGetDevice(&current));
    CHECK(current == device);
    CALL(cudaGetDeviceProperties(&found, device));
    CHECK(found.major == 8 && found.minor == 7 && found.integrated == 1);
}

static void flags(void)
{
    unsigned int flags = 0;
    CALL(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    CALL(cudaGetDeviceFlags(&flags));
    CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);
}

static void settings(void)
{
    enum cudaFuncCache cache;
    enum cudaSharedMemConfig banks;
    size_t stack = 0;
    CALL(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    CALL(cudaDeviceGetCacheConfig(&cache));
    CHECK(cache == cudaFuncCachePreferShared);
    /* Names of CUDA 4 and before; they do the same. */
    CALL(cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
    CALL(cudaThreadSetLimit(cudaLimitStackSize, 4096));
    CALL(cudaThreadGetLimit(&stack, cudaLimitStackSize));
    CHECK(stack == 4096);
    /* No board since Maxwell has banks of 8 bytes: the setting is accepted and ignored. */
    CALL(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
    CALL(cudaDeviceGetSharedMemConfig(&banks));
    CHECK(banks == cudaSharedMemBankSizeFourByte);
}

static void bus(void)
{
    char name[32];
    int device = -1;
    CALL(cudaDeviceGetPCIBusId(name, sizeof name, 0));
    CALL(cudaDeviceGetByPCIBusId(&device, name));
    CHECK(device == 0);
}

/* A board has one GPU, which is no peer of itself. */
static void peers(void)
{
    int can = -1;
    CALL(cudaDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

int main(void)
{
    versions();
    choice();
    flags();
    settings();
    bus();
    peers();
    CALL(cudaThreadExit());
    printf("ok\n");
    return 0;
}
