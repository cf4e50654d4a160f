#include <cupva_device.h>
VMEM_GSDF_HANDLER(A, gat, 4);
VMEM_SEQDF_HANDLER(B, seq);
VMEM(A, uint8_t, tiles, 4 * 64);
VMEM(B, uint8_t, out, 256);
VMEM(C, int32_t, xs, 4);
VMEM(C, int32_t, ys, 4);
CUPVA_VPU_MAIN()
{
    if (!cupvaGSDFOpen(&gat, tiles, 8, 64)) return 1;
    for (int i = 0; i < 4; i++) cupvaGSDFUpdateTile(&gat, i, xs[i], ys[i], 8, 8);
    cupvaGSDFTrig(&gat);
    cupvaGSDFSync(&gat);
    cupvaGSDFCycleBuffers(&gat);
    for (int i = 0; i < 256; i++) out[i] = tiles[i] + 1;
    cupvaSQDFOpen(seq);
    cupvaSQDFTrig(seq);
    SequenceDataFlowHandler *both[] = {&seq};
    cupvaSQDFSync(both, 1);
    cupvaSQDFClose(seq);
    cupvaGSDFClose(&gat);
    return 0;
}
