/* Greets. */
#include <cupva_device.h>
#include <cupva_device_debug.h>

CUPVA_VPU_MAIN()
{
    printf("Hello from the VPU!\n");
    return 0;
}
