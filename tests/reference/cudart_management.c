/* The management library: what it says of a device is what the runtime says. */
#include <cuda_runtime_api.h>
#include <nvml.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)
#define ASK(call) CHECK((call) == NVML_SUCCESS)

static nvmlDevice_t device;

static void uses(void)
{
    unsigned int count = 0;
    int version = 0, driver = 0;
    CHECK(nvmlDeviceGetCount(&count) == NVML_ERROR_UNINITIALIZED);
    CHECK(nvmlShutdown() == NVML_ERROR_UNINITIALIZED);
    ASK(nvmlSystemGetCudaDriverVersion(&version));
    CALL(cudaDriverGetVersion(&driver));
    CHECK(version == driver);
    CHECK(nvmlInitWithFlags(64) == NVML_ERROR_INVALID_ARGUMENT);
    ASK(nvmlInit());
    ASK(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS));
    ASK(nvmlShutdown());
    ASK(nvmlDeviceGetCount(&count));
    CHECK(count == 1);
    CHECK(strlen(nvmlErrorString(NVML_ERROR_NOT_FOUND)) > 0 && nvmlErrorString((nvmlReturn_t)500) != NULL);
}

static void texts(void)
{
    char driver[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE], own[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE], few[4];
    int cuda = 0;
    ASK(nvmlSystemGetDriverVersion(driver, sizeof driver));
    ASK(nvmlSystemGetNVMLVersion(own, sizeof own));
    ASK(nvmlSystemGetCudaDriverVersion_v2(&cuda));
    CHECK(atoi(own) == NVML_CUDA_DRIVER_VERSION_MAJOR(cuda));
    CHECK(strstr(own, driver) != NULL);
    CHECK(nvmlSystemGetDriverVersion(few, sizeof few) == NVML_ERROR_INSUFFICIENT_SIZE);
}

static void handles(void)
{
    nvmlDevice_t again = NULL;
    nvmlPciInfo_t pci;
    struct cudaDeviceProp prop;
    char bus[32], uuid[NVML_DEVICE_UUID_BUFFER_SIZE], expected[64], *end = expected;
    unsigned int index = 7, minor = 7;
    CALL(cudaGetDeviceProperties(&prop, 0));
    CALL(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    ASK(nvmlDeviceGetHandleByIndex(0, &device));
    CHECK(nvmlDeviceGetHandleByIndex(1, &again) == NVML_ERROR_INVALID_ARGUMENT);
    ASK(nvmlDeviceGetHandleByPciBusId(bus, &again));
    CHECK(again == device);
    ASK(nvmlDeviceGetPciInfo(device, &pci));
    CHECK(!strcmp(pci.busIdLegacy, bus) && pci.bus == 0);
    ASK(nvmlDeviceGetHandleByPciBusId(pci.busId, &again));
    CHECK(again == device);
    ASK(nvmlDeviceGetHandleByPciBusId("00:00.0", &again));
    CHECK(nvmlDeviceGetHandleByPciBusId("0000:01:00.0", &again) == NVML_ERROR_NOT_FOUND);
    CHECK(nvmlDeviceGetHandleByPciBusId("none", &again) == NVML_ERROR_NOT_FOUND);
    ASK(nvmlDeviceGetUUID(device, uuid, sizeof uuid));
    end += sprintf(end, "GPU-");
    for (int i = 0; i < 16; i++)
        end += sprintf(end, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)prop.uuid.bytes[i]);
    CHECK(!strcmp(uuid, expected));
    ASK(nvmlDeviceGetHandleByUUID(uuid, &again));
    CHECK(again == device);
    CHECK(nvmlDeviceGetHandleByUUID("GPU-0", &again) == NVML_ERROR_NOT_FOUND);
    ASK(nvmlDeviceGetIndex(device, &index));
    ASK(nvmlDeviceGetMinorNumber(device, &minor));
    CHECK(index == 0 && minor == 0);
}

static void what_it_is(void)
{
    struct cudaDeviceProp prop;
    char name[NVML_DEVICE_NAME_BUFFER_SIZE];
    int major = 0, minor = 0, rate = 0;
    unsigned int clock = 0, width = 0;
    nvmlComputeMode_t mode = NVML_COMPUTEMODE_COUNT;
    nvmlDeviceArchitecture_t arch = NVML_DEVICE_ARCH_UNKNOWN;
    CALL(cudaGetDeviceProperties(&prop, 0));
    ASK(nvmlDeviceGetName(device, name, sizeof name));
    CHECK(!strcmp(name, prop.name));
    CHECK(nvmlDeviceGetName(device, name, 3) == NVML_ERROR_INSUFFICIENT_SIZE);
    ASK(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
    CHECK(major == prop.major && minor == prop.minor);
    ASK(nvmlDeviceGetArchitecture(device, &arch));
    CHECK(arch == NVML_DEVICE_ARCH_AMPERE);
    ASK(nvmlDeviceGetComputeMode(device, &mode));
    CHECK(mode == NVML_COMPUTEMODE_DEFAULT);
    CALL(cudaDeviceGetAttribute(&rate, cudaDevAttrClockRate, 0));
    ASK(nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &clock));
    CHECK((int)clock == rate / 1000);
    CALL(cudaDeviceGetAttribute(&rate, cudaDevAttrMemoryClockRate, 0));
    ASK(nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_MEM, &clock));
    CHECK((int)clock == rate / 1000);
    CHECK(nvmlDeviceGetClockInfo(device, NVML_CLOCK_VIDEO, &clock) == NVML_ERROR_NOT_SUPPORTED);
    CHECK(nvmlDeviceGetClockInfo(device, NVML_CLOCK_COUNT, &clock) == NVML_ERROR_INVALID_ARGUMENT);
    ASK(nvmlDeviceGetMemoryBusWidth(device, &width));
    CHECK((int)width == prop.memoryBusWidth);
}

static void memory(void)
{
    nvmlMemory_t before, now;
    nvmlMemory_v2_t more = {.version = 1};
    void *some = NULL;
    size_t free_bytes = 0, total = 0;
    ASK(nvmlDeviceGetMemoryInfo(device, &before));
    CALL(cudaMalloc(&some, 1 << 20));
    ASK(nvmlDeviceGetMemoryInfo(device, &now));
    CHECK(now.used == before.used + (1 << 20) && now.free + now.used == now.total);
    CALL(cudaMemGetInfo(&free_bytes, &total));
    CHECK(now.total == total && now.free == free_bytes);
    CHECK(nvmlDeviceGetMemoryInfo_v2(device, &more) == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    more.version = nvmlMemory_v2;
    ASK(nvmlDeviceGetMemoryInfo_v2(device, &more));
    CHECK(more.total == total && more.reserved + more.used + more.free == total);
    CALL(cudaFree(some));
}

static void what_it_has_not(void)
{
    nvmlUtilization_t busy;
    nvmlPstates_t state;
    nvmlEnableState_t mode, pending;
    unsigned int number = 0;
    unsigned long long energy;
    char serial[NVML_DEVICE_SERIAL_BUFFER_SIZE];
    const nvmlReturn_t answers[] = {
        nvmlDeviceGetUtilizationRates(device, &busy),
        nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &number),
        nvmlDeviceGetFanSpeed(device, &number),
        nvmlDeviceGetPowerUsage(device, &number),
        nvmlDeviceGetTotalEnergyConsumption(device, &energy),
        nvmlDeviceGetPowerManagementLimit(device, &number),
        nvmlDeviceGetEnforcedPowerLimit(device, &number),
        nvmlDeviceGetSerial(device, serial, sizeof serial),
        nvmlDeviceGetPerformanceState(device, &state),
        nvmlDeviceGetApplicationsClock(device, NVML_CLOCK_SM, &number),
        nvmlDeviceGetPersistenceMode(device, &mode),
        nvmlDeviceGetEccMode(device, &mode, &pending),
        nvmlDeviceGetComputeRunningProcesses(device, &number, NULL),
        nvmlDeviceSetPersistenceMode(device, NVML_FEATURE_ENABLED),
        nvmlDeviceSetApplicationsClocks(device, 1000, 1000),
        nvmlDeviceResetApplicationsClocks(device),
        nvmlDeviceSetGpuLockedClocks(device, 1000, 1000),
        nvmlDeviceResetGpuLockedClocks(device),
        nvmlDeviceSetPowerManagementLimit(device, 1000),
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        CHECK(answers[i] == NVML_ERROR_NOT_SUPPORTED);
}

int main(void)
{
    unsigned int number = 0;
    uses();
    texts();
    handles();
    what_it_is();
    memory();
    what_it_has_not();
    CHECK(nvmlDeviceGetIndex((nvmlDevice_t)&number, &number) == NVML_ERROR_INVALID_ARGUMENT);
    ASK(nvmlShutdown());
    CHECK(nvmlDeviceGetIndex(device, &number) == NVML_ERROR_UNINITIALIZED);
    ASK(nvmlInit());
    CHECK(nvmlDeviceGetIndex(device, &number) == NVML_ERROR_INVALID_ARGUMENT);
    ASK(nvmlShutdown());
    puts("ok");
    return 0;
}
