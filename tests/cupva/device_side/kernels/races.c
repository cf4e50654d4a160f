/* Kernels that wait for their tiles, and kernels that do not. Four tiles of 64 bytes, each plus 1. */
#include <cupva_device.h>

#include "races.h"

#define TILES 4
#define SIZE 64

VMEM(A, int32_t, mode);
VMEM(A, uint8_t, in, 2 * SIZE);
VMEM(B, uint8_t, out, 2 * SIZE);
VMEM(A, uint8_t, gathered, 4, SIZE);
VMEM(C, uint32_t, source);
VMEM(C, uint32_t, target);
VMEM_RDF_UNIFIED(C, unified_source);
VMEM_RDF_UNIFIED(C, unified_target);
VMEM_GSDF_HANDLER(C, gather, 4);
VMEM_SEQDF_HANDLER(C, sequence);

static void work(uint8_t *to, const uint8_t *from)
{
    for (int32_t i = 0; i < SIZE; i++)
        to[i] = from[i] + 1;
}

static void loop(void)
{
    for (int32_t i = 0; i < TILES; i++) {
        cupvaDataFlowTrig(source);
        if (mode != NEVER_WAITS)
            cupvaDataFlowSync(source);
        work(out, in);
        cupvaDataFlowTrig(target);
        if (mode == WRITES_TOO_SOON)
            out[7]++;
        if (mode != NEVER_WAITS)
            cupvaDataFlowSync(target);
    }
}

/* The prefetching loop: one tile is on its way while the other is worked on. */
static void double_buffered(void)
{
    cupvaDataFlowTrig(source);
    for (int32_t i = 0; i < TILES; i++) {
        cupvaDataFlowSync(source);
        cupvaDataFlowTrig(source);
        work(out + i % 2 * SIZE, in + i % 2 * SIZE);
        if (mode == WRITES_WHAT_COMES && i == 1)
            in[(i + 1) % 2 * SIZE + 3]++;
        cupvaDataFlowSync(target);
        cupvaDataFlowTrig(target);
    }
    cupvaDataFlowSync(target);
}

static void unified(void)
{
    cupvaRasterDataFlowOpen(unified_source, in);
    cupvaRasterDataFlowOpen(unified_target, out);
    for (int32_t i = 0; i < TILES; i++) {
        uint8_t *from = (uint8_t *)cupvaRasterDataFlowAcquire(unified_source);
        work((uint8_t *)cupvaRasterDataFlowAcquire(unified_target), from);
        cupvaRasterDataFlowRelease(unified_source);
        cupvaRasterDataFlowRelease(unified_target);
    }
    cupvaRasterDataFlowClose(unified_source);
    cupvaRasterDataFlowClose(unified_target);
}

static void gathers(void)
{
    cupvaGSDFOpen(gather, gathered, SIZE, SIZE);
    for (int32_t i = 0; i < TILES; i++)
        cupvaGSDFUpdateTile(gather, i, SIZE * (TILES - 1 - i), 0, SIZE, 1);
    cupvaGSDFTrig(gather);
    if (mode == GATHERS)
        cupvaGSDFSync(gather);
    for (int32_t i = 0; i < TILES; i++) {
        work(out + i % 2 * SIZE, gathered[i]);
        cupvaDataFlowTrig(target);
        cupvaDataFlowSync(target);
    }
    cupvaGSDFClose(gather);
}

/* The same tile three times. */
static void sequences(void)
{
    cupvaSQDFOpen(sequence);
    for (int32_t i = 0; i < TILES; i++) {
        cupvaSQDFTrig(sequence);
        cupvaSQDFSync(sequence);
        work(out + i % 2 * SIZE, in);
        cupvaDataFlowTrig(target);
        cupvaDataFlowSync(target);
    }
    cupvaSQDFClose(sequence);
}

/* Two triggers before the first sync: tiles come in the order of their triggers. */
static void two_ahead(void)
{
    for (int32_t i = 0; i < TILES; i += 2) {
        cupvaDataFlowTrig(source);
        cupvaDataFlowTrig(source);
        for (int32_t k = 0; k < 2; k++) {
            cupvaDataFlowSync(source);
            work(out + k * SIZE, in + k * SIZE);
            cupvaDataFlowTrig(target);
        }
        cupvaDataFlowSync(target);
        cupvaDataFlowSync(target);
    }
}

CUPVA_VPU_MAIN()
{
    switch (mode) {
    case DOUBLE_BUFFERED:
    case WRITES_WHAT_COMES:
        double_buffered();
        break;
    case GATHERS:
    case GATHERS_UNSYNCED:
        gathers();
        break;
    case SEQUENCE:
        sequences();
        break;
    case UNIFIED:
        unified();
        break;
    case TWO_AHEAD:
        two_ahead();
        break;
    default:
        loop();
    }
    return 0;
}
