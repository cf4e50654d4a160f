/* Every family of dataflow functions; `mode` chooses. Results go to `seen`. */
#include <cupva_device.h>

#include "flows.h"

#define TW 16
#define TH 4
#define HALO 1

VMEM(A, int32_t, mode);
VMEM(A, int32_t, tiles);
VMEM(A, int32_t, seen, 256);
VMEM(A, uint16_t, single, RDF_SINGLE(uint16_t, TW, TH, HALO, HALO));
VMEM(A, uint16_t, pair, RDF_DOUBLE(uint16_t, TW, TH, HALO, HALO));
VMEM(B, uint16_t, ring, RDF_CIRCULAR(uint16_t, TW, TH, HALO, HALO));
VMEM(B, uint16_t, outgoing, RDF_DOUBLE(uint16_t, TW, TH));
VMEM(B, uint8_t, volume, TDF_DOUBLE(uint8_t, 4, 4, 3, 1, 1));
VMEM(C, uint8_t, bytes, 512);
VMEM(C, RasterDataFlowHandler, source);
VMEM(C, RasterDataFlowHandler, target);
VMEM_RDF_UNIFIED(C, unified_source);
VMEM_RDF_UNIFIED(C, unified_target);
VMEM_TDF_HANDLER(C, tensor);
VMEM_SEQDF_HANDLER(C, sequence);
VMEM_GSDF_HANDLER(C, gather, 3);
VMEM_GSDF_HANDLER(C, scatter, 3, GSDF_UNIFORM);
VMEM_POINTER(C, elsewhere);

static_assert(CUPVA_SINGLE_BUFFER_LENGTH(16, 4) == 64, "");
static_assert(CUPVA_SINGLE_BUFFER_LENGTH(16, 4, 1) == 72, "");
static_assert(CUPVA_SINGLE_BUFFER_LENGTH(16, 4, 1, 1) == 108, "");
static_assert(RDF_SINGLE(uint16_t, 16, 4, 1, 1) == 108, "");
static_assert(RDF_DOUBLE(uint16_t, 16, 4, 1, 1) == 224, "2 * 216 bytes, rounded up to 448");
static_assert(RDF_CIRCULAR(uint16_t, 16, 4, 1, 1) == 256, "and a line more");
static_assert(TDF_SINGLE(uint8_t, 4, 4, 3, 1, 1) == 108, "");
static_assert(TDF_DOUBLE(uint8_t, 4, 4, 3, 1, 1) == 384, "2 * 36 bytes, rounded up to 128, times 3");
static_assert(sizeof(dvshort) == 64 && pva_elementsof(dvshortx) == 32, "");

static int32_t sum_of(uint16_t *from, int32_t start, int32_t pitch, int32_t length)
{
    int32_t total = 0;
    for (int32_t y = 0; y < TH + 2 * HALO; y++)
        for (int32_t x = 0; x < TW + 2 * HALO; x++)
            total += from[length ? (start + y * pitch + x) % length : start + y * pitch + x] * (y * 32 + x + 1) % 9973;
    return total;
}

/* Trigger ahead, sync, trigger, work: the loop of every kernel with two buffers. */
static void explicit_loop(uint16_t *from)
{
    int32_t in = 0, off = 0;
    int32_t pitch = cupvaRasterDataFlowGetLinePitch(source);
    int32_t length = cupvaRasterDataFlowGetCbLen(source);
    cupvaRasterDataFlowTrig(source);
    for (int32_t i = 0; i < tiles; i++) {
        cupvaRasterDataFlowSync(source);
        seen[i] = in;
        seen[64 + i] = sum_of(from, in, pitch, length);
        for (int32_t k = 0; k < TW * TH; k++) {
            int32_t at = in + (k / TW + HALO) * pitch + k % TW + HALO;
            outgoing[off + k] = from[length ? at % length : at];
        }
        cupvaRasterDataFlowTrig(source);
        in = cupvaRasterDataFlowGetOffset(source, in);
        off = cupvaRasterDataFlowGetOffset(target, off);
        cupvaRasterDataFlowSync(target);
        cupvaRasterDataFlowTrig(target);
    }
    cupvaRasterDataFlowSync(target);
    seen[200] = pitch;
    seen[201] = cupvaRasterDataFlowGetAdvance(source);
    seen[202] = length;
    seen[203] = cupvaRasterDataFlowGetBppLog2(source);
}

static void unified_loop(void)
{
    cupvaRasterDataFlowOpen(unified_source, &pair[0]);
    cupvaRasterDataFlowOpen(unified_target, &outgoing[0]);
    int32_t pitch = cupvaRasterDataFlowGetLinePitch(unified_source);
    for (int32_t i = 0; i < tiles; i++) {
        uint16_t *from = (uint16_t *)cupvaRasterDataFlowAcquire(unified_source);
        uint16_t *to = (uint16_t *)cupvaRasterDataFlowAcquire(unified_target);
        seen[i] = from - pair;
        for (int32_t k = 0; k < TW * TH; k++)
            to[k] = from[(k / TW + HALO) * pitch + k % TW + HALO];
        cupvaRasterDataFlowRelease(unified_source);
        cupvaRasterDataFlowRelease(unified_target);
    }
    cupvaRasterDataFlowClose(unified_source);
    cupvaRasterDataFlowClose(unified_target);
}

static void tensor_loop(void)
{
    int32_t number = 0;
    cupvaTensorDataFlowOpen(tensor, &volume[0]);
    for (int32_t hw = 0; hw < cupvaTensorDataFlowGetNiterHW(tensor); hw++)
        for (int32_t c = 0; c < cupvaTensorDataFlowGetNiterC(tensor); c++) {
            uint8_t *tile = (uint8_t *)cupvaTensorDataFlowAcquire(tensor);
            int32_t planes = cupvaTensorDataFlowGetNumTiles(tensor), total = 0;
            for (int32_t z = 0; z < planes; z++)
                for (int32_t i = 0; i < cupvaTensorDataFlowGetTilePlaneSize(tensor); i++)
                    total += tile[z * cupvaTensorDataFlowGetTilePlaneSize(tensor) + i];
            seen[number++] = planes;
            seen[number++] = total;
            cupvaTensorDataFlowRelease(tensor);
        }
    cupvaTensorDataFlowClose(tensor);
    seen[200] = cupvaTensorDataFlowGetTileLinePitch(tensor);
    seen[201] = cupvaTensorDataFlowZHasRemainder(tensor);
    seen[202] = cupvaTensorDataFlowGetBppLog2(tensor);
    seen[203] = tensor.params.numSlices;
}

static void sequence_loop(void)
{
    cupvaSQDFOpen(sequence);
    for (int32_t run = 0; run < 2; run++) {
        cupvaSQDFTrig(sequence);
        cupvaSQDFSync(sequence);
        seen[run] = bytes[0];
    }
    cupvaSQDFUpdateAddr(sequence, 0, elsewhere.base + elsewhere.offset, MEM_TYPE_DRAM,
                        (uint64_t)(uintptr_t)&bytes[64], MEM_TYPE_VMEM);
    cupvaSQDFUpdateTileSize(sequence, 0, 8, 1);
    cupvaSQDFTrig(sequence);
    cupvaSQDFSync(sequence);
    seen[2] = bytes[64];
    cupvaSQDFFlushAndTrig(sequence);
    cupvaSQDFSync(sequence);
    seen[3] = bytes[64];
    seen[4] = bytes[71];
    seen[5] = bytes[72];
    if (mode != LEAVE_SEQUENCE_OPEN)
        cupvaSQDFClose(sequence);
}

static void gather_loop(void)
{
    seen[0] = cupvaGSDFOpen(gather, bytes, 4, 64);
    seen[1] = cupvaGSDFOpen(gather, bytes, 4, 64);
    cupvaGSDFUpdateTile(gather, 0, 2, 1, 4, 2);
    cupvaGSDFUpdateTile(gather, 1, -1, -1, 4, 3);
    cupvaGSDFUpdateTile(gather, 2, 14, 7, 4, 2);
    cupvaGSDFTrig(gather);
    cupvaGSDFSync(gather);
    cupvaGSDFClose(gather);
    cupvaGSDFOpen(scatter, bytes, 4, 64);
    cupvaGSDFUpdateTile(scatter, 0, 0, 0, 4, 2);
    cupvaGSDFUpdateTile(scatter, 1, -1, 4, 4, 2);
    cupvaGSDFTrig(scatter);
    cupvaGSDFSync(scatter);
    cupvaGSDFClose(scatter);
}

CUPVA_VPU_MAIN()
{
    switch (mode) {
    case SINGLE:
        explicit_loop(single);
        break;
    case DOUBLE:
        explicit_loop(pair);
        break;
    case CIRCULAR:
        explicit_loop(ring);
        break;
    case UNIFIED:
        unified_loop();
        break;
    case ACQUIRE_TWICE:
        cupvaRasterDataFlowOpen(unified_source, pair);
        cupvaRasterDataFlowAcquire(unified_source);
        cupvaRasterDataFlowAcquire(unified_source);
        break;
    case TENSOR:
        tensor_loop();
        break;
    case SEQUENCE:
    case LEAVE_SEQUENCE_OPEN:
        sequence_loop();
        break;
    case GATHER:
        gather_loop();
        break;
    }
    return 0;
}
