/* Writes random bytes over what it shares with the host: reply, gate, request. */
#include <cupva_device.h>

#include <stdint.h>
#include <stdlib.h>

extern char *rt_control; /* the runtime's */

VMEM(A, int32_t, seed);
VMEM(A, int32_t, amount);
VMEM(A, int32_t, span);

CUPVA_VPU_MAIN()
{
    srand((unsigned)seed);
    for (int i = 0; i < amount; i++)
        rt_control[rand() % span] = (char)rand();
    return 5;
}
