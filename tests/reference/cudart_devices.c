/* Devices and their settings: what the runtime answers of a board. */
#include <cuda_runtime_api.h>

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
    struct cudaDeviceProp found;
    int device = 0, current = -1;
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
    size_t stack = 0;
    CALL(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CALL(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    CHECK(stack == 4096);
}

int main(void)
{
    versions();
    choice();
    flags();
    settings();
    CALL(cudaDeviceReset());
    printf("ok\n");
    return 0;
}
