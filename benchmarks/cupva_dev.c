/* The kernels of benchmarks/cupva.cpp: nothing, a picture through VMEM, a tensor through VMEM. */
#include <cupva_device.h>

#if defined(EMPTY)

CUPVA_VPU_MAIN()
{
    return 0;
}

#elif defined(RASTER)

VMEM(A, RasterDataFlowHandler, in_handler);
VMEM(B, RasterDataFlowHandler, out_handler);
VMEM(A, uint8_t, in_buffer, RDF_DOUBLE(uint8_t, 64, 32, 2, 2));
VMEM(B, uint8_t, out_buffer, RDF_DOUBLE(uint8_t, 64, 32));
VMEM(C, int32_t, tiles);

CUPVA_VPU_MAIN()
{
    cupvaRasterDataFlowTrig(in_handler);
    for (int32_t i = 0; i < tiles; i++) {
        cupvaRasterDataFlowSync(in_handler);
        cupvaRasterDataFlowTrig(in_handler);
        cupvaRasterDataFlowSync(out_handler);
        cupvaRasterDataFlowTrig(out_handler);
    }
    cupvaRasterDataFlowSync(out_handler);
    return 0;
}

#else

VMEM_TDF_HANDLER(A, in_handler);
VMEM_TDF_HANDLER(B, out_handler);
VMEM(A, uint8_t, in_buffer, TDF_DOUBLE(uint8_t, 32, 32, 16, 1, 1));
VMEM(B, uint8_t, out_buffer, TDF_DOUBLE(uint8_t, 32, 32, 16));

CUPVA_VPU_MAIN()
{
    cupvaTensorDataFlowOpen(in_handler, in_buffer);
    cupvaTensorDataFlowOpen(out_handler, out_buffer);
    int32_t tiles = cupvaTensorDataFlowGetNiterHW(in_handler) * cupvaTensorDataFlowGetNiterC(in_handler);
    for (int32_t i = 0; i < tiles; i++) {
        cupvaTensorDataFlowAcquire(in_handler);
        cupvaTensorDataFlowAcquire(out_handler);
        cupvaTensorDataFlowRelease(out_handler);
        cupvaTensorDataFlowRelease(in_handler);
    }
    cupvaTensorDataFlowClose(in_handler);
    cupvaTensorDataFlowClose(out_handler);
    return 0;
}

#endif
