/* Which cuDLA this is, what an engine says of itself, and how long its tasks may take. */
#include <cudla.h>

#include "check.h"

int main(void)
{
    uint64_t version = 0, engines = 0;
    cudlaDevHandle device;
    cudlaDevAttribute attribute;
    cudlaStatus status = cudlaGetVersion(&version);
    CHECK(status == cudlaSuccess);
    CHECK(version == CUDLA_VER_MAJOR * 1000000 + CUDLA_VER_MINOR * 1000 + CUDLA_VER_PATCH);

    CHECK(cudlaDeviceGetCount(&engines) == cudlaSuccess && engines >= 1);
    CHECK(cudlaCreateDevice(0, &device, CUDLA_STANDALONE) == cudlaSuccess);

    /* The engines of Orin are the second generation; they use the CPU's addresses. */
    status = cudlaDeviceGetAttribute(device, CUDLA_DEVICE_VERSION, &attribute);
    CHECK(status == cudlaSuccess && attribute.deviceVersion == 2);
    status = cudlaDeviceGetAttribute(device, CUDLA_UNIFIED_ADDRESSING, &attribute);
    CHECK(status == cudlaSuccess && attribute.unifiedAddressingSupported == 1);
    cudlaDevAttributeType unknown = (cudlaDevAttributeType)99;
    CHECK(cudlaDeviceGetAttribute(device, unknown, &attribute) == cudlaErrorInvalidAttribute);

    /* From 1 ms up to 1000 seconds. */
    status = cudlaSetTaskTimeoutInMs(device, 500);
    CHECK(status == cudlaSuccess);
    CHECK(cudlaSetTaskTimeoutInMs(device, 1000000) == cudlaSuccess);
    CHECK(cudlaSetTaskTimeoutInMs(device, 1000001) == cudlaErrorInvalidParam);
    CHECK(cudlaSetTaskTimeoutInMs(device, 0) == cudlaErrorInvalidParam);

    CHECK(cudlaDestroyDevice(device) == cudlaSuccess);
    CHECK(cudlaSetTaskTimeoutInMs(device, 500) == cudlaErrorInvalidParam);
    puts("ok");
    return 0;
}
