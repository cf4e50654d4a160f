/* Counts a while, so that its end can be seen to come after its beginning. */
#include <cupva_device.h>

VMEM(A, int32_t, rounds);
VMEM(B, int32_t, counter);

CUPVA_VPU_MAIN()
{
    for (int32_t i = 0; i < rounds; i++)
        *(volatile int32_t *)&counter += 1;
    return 0;
}
