#include <cupva_device.h>

VMEM(A, int, given);

/* Ends badly for one number in a thousand: of failures 65,536 are kept for who asks. */
CUPVA_VPU_MAIN()
{
    return given % 1000 == 999;
}
