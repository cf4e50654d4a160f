/* Multiplies, and returns 0 when the product is what the host expects. */
#include <cupva_device.h>

#include "scalars.h"

VMEM(A, Order, order);
VMEM(A, int32_t, count);
VMEM(B, float, scale);

CUPVA_VPU_MAIN()
{
    int32_t product = 1;
    for (int32_t i = 0; i < count; i++)
        product *= order.factors[i];
    return (int32_t)(product * scale) == order.expected ? 0 : 1;
}
