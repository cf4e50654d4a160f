/* Writes the descriptors of a list of dataflows before each of them begins. `mode`: 0 as told, else
 * what is wrong with the table. */
#include <cupva_device.h>

VMEM(A, uint32_t, moving);
VMEM(A, uint32_t, settings);
VMEM(A, uint32_t, leaving);
VMEM(A, uint32_t, dynamic, DDF_TBL_SIZE(1));
VMEM_DMA_CONFIG(B, uint32_t, table, 2 + 2 * 8);
VMEM(B, uint8_t, pixels, 4096);
VMEM_POINTER(C, image);
VMEM(C, int32_t, ids, 4);
VMEM(C, int32_t, values, 4, 8); /* src and dst bytes, w, h, src and dst pitch, tiles, advance */
VMEM(C, int32_t, mode);

static void put(uint32_t value, uint32_t address)
{
    uint32_t const number = table[0]++;
    table[2 + 2 * number] = value;
    table[3 + 2 * number] = address;
}

static uint32_t low(int32_t bytes)
{
    return (uint32_t)(image.base + (uint64_t)(image.offset + bytes));
}

CUPVA_VPU_MAIN()
{
    if (mode == 9) {
        cupvaDDFOpen(dynamic, image, cupvaGetVmemAddress(pixels));
        cupvaDDFTrig(dynamic);
        cupvaDDFSync(dynamic);
        cupvaDDFClose(dynamic);
        return pixels[0] == 7 ? 0 : 1;
    }
    for (int32_t i = 0; i < 4; i++) {
        int32_t const *v = values[i], id = ids[i];
        table[0] = 0;
        table[1] = mode == 1 ? 0 : 0xDEADC0DE;
        put(low(v[0]), CUPVA_GET_DESC_ATTR_ADDR(id, SRC_ADR));
        put(cupvaGetVmemAddress(pixels + v[1]), CUPVA_GET_DESC_ATTR_ADDR(id, DST_ADR));
        put((uint32_t)(v[3] << 16 | v[2]), CUPVA_GET_DESC_ATTR_ADDR(id, TILE_CNTL));
        put((uint32_t)(v[5] << 16 | v[4]), CUPVA_GET_DESC_ATTR_ADDR(id, LP_CNTL));
        uint32_t const walk = (uint32_t)(v[6] - 1) << 24;
        put(walk | (uint32_t)(v[7] & 0xFFFFFF), CUPVA_GET_DESC_ATTR_ADDR(id, SRCPT1_CNTL));
        if (mode != 2)
            put(walk | 64, CUPVA_GET_DESC_ATTR_ADDR(id, DSTPT1_CNTL));
        if (mode == 3)
            put(0, CUPVA_GET_DESC_ATTR_ADDR(id, EVENT_CNTL));
        if (mode == 4)
            put(0, CUPVA_GET_DESC_ATTR_ADDR(60, SRC_ADR));
        if (mode == 5)
            table[0] = 9;
        if (mode == 6)
            cupvaDataFlowTrig(moving);
        cupvaDataFlowTrig(settings);
        cupvaDataFlowSync(settings);
        for (int32_t t = 0; t < v[6]; t++) {
            cupvaDataFlowTrig(moving);
            cupvaDataFlowSync(moving);
        }
    }
    cupvaDataFlowTrig(leaving);
    cupvaDataFlowSync(leaving);
    return 0;
}
