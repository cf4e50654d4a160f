/* What the cases of the host's tests run: it obeys its variables. */
#include <cupva_device.h>

VMEM(A, uint8_t, tile, 8192);
VMEM(B, uint8_t, second, 8192);
VMEM(C, uint8_t, large, 9000);
VMEM(A, uint32_t, handler);
VMEM(B, uint32_t, other_handler);
VMEM(A, RasterDataFlowHandler, raster_handler);
VMEM(B, RasterDataFlowHandler, second_raster_handler);
VMEM_TDF_HANDLER(B, tensor_handler);
VMEM_POINTER(A, outside);

VMEM(C, int32_t, answer);   /* what the program returns */
VMEM(C, int32_t, triggers); /* of `handler`, each with its sync */
VMEM(C, int32_t, others);   /* of `other_handler`, after those */
VMEM(C, int32_t, spins);
VMEM(C, int32_t, hangs);
VMEM(C, int32_t, divides);
VMEM(C, int32_t, check_pointer);
VMEM(C, int32_t, values, 3);
VMEM(C, int32_t, check_values);
VMEM(B, uint8_t, a_name_of_exactly_sixty_four_characters_is_the_longest_allowed__);

CUPVA_VPU_MAIN()
{
    volatile int32_t sink = 0;
    for (int32_t i = 0; i < spins; i++)
        sink = sink + 1;
    while (hangs)
        sink = sink + 1;
    if (divides)
        return 100 / (divides - 1);
    for (int32_t i = 0; i < triggers; i++) {
        cupvaDataFlowTrig(handler);
        cupvaDataFlowSync(handler);
    }
    for (int32_t i = 0; i < others; i++) {
        cupvaDataFlowTrig(other_handler);
        cupvaDataFlowSync(other_handler);
    }
    if (check_pointer)
        return outside.base == 0;
    if (check_values)
        return values[0] + values[1] + values[2] != 6;
    return answer;
}
