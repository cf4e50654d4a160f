/* Loads and stores a tile for each node, `rounds` times, at places of its own choice. */
#include <cupva_device.h>

VMEM_DMA_CONFIG(A, uint32_t, load, DDF_PARALLEL_TBL_SIZE(4, 8));
VMEM_DMA_CONFIG(A, uint32_t, store, DDF_PARALLEL_TBL_SIZE(4, 8));
VMEM(B, uint8_t, pixels, 32 * 1024);
VMEM_POINTER(C, image);
VMEM_POINTER(C, result);
VMEM(C, int32_t, nodes);
VMEM(C, int32_t, lanes);
VMEM(C, int32_t, rounds);
VMEM(C, int32_t, places, 128);

static uint64_t at(ExtMemPointer const &memory, int64_t bytes)
{
    return memory.base + (uint64_t)(memory.offset + bytes);
}

CUPVA_VPU_MAIN()
{
    int32_t const count = nodes * lanes;
    bool const one = lanes == 1;
    uint32_t const vmem = cupvaGetVmemAddress(pixels);
    (one ? cupvaDDFOpen : cupvaDDFParallelOpen)(load, image, vmem);
    (one ? cupvaDDFOpen : cupvaDDFParallelOpen)(store, result, vmem);
    for (int32_t round = 0; round < rounds; round++) {
        for (int32_t i = 0; i < count; i++) {
            int32_t const number = round * count + i;
            uint64_t const slot = (uint64_t)(uintptr_t)(pixels + i * 1024);
            cupvaDDFUpdateAddr(load, (uint8_t)i, at(image, places[number]), MEMTYPE_DRAM, slot,
                               MEMTYPE_VMEM);
            cupvaDDFUpdateAddr(store, (uint8_t)i, slot, MEMTYPE_VMEM, at(result, number * 1024),
                               MEMTYPE_DRAM);
        }
        (one ? cupvaDDFTrig : cupvaDDFParallelTrig)(load);
        (one ? cupvaDDFSync : cupvaDDFParallelSync)(load);
        (one ? cupvaDDFTrig : cupvaDDFParallelTrig)(store);
        (one ? cupvaDDFSync : cupvaDDFParallelSync)(store);
    }
    (one ? cupvaDDFClose : cupvaDDFParallelClose)(load);
    (one ? cupvaDDFClose : cupvaDDFParallelClose)(store);
    return 0;
}
