#include <cupva_dynamic_dataflow.h>

#define WIDTH 16
#define HEIGHT 8
#define COUNT 6

typedef struct {
    int16_t x, y;
} Place;

VMEM_GSDF_HANDLER(A, gather, 2);
VMEM_RDF_UNIFIED(A, list);
VMEM_SEQDF_HANDLER(A, leave);
VMEM(B, int16_t, regions, WIDTH * HEIGHT * 2);
VMEM(C, Place, places, RDF_SINGLE(Place, COUNT, 1));
VMEM_POINTER(C, found);
VMEM(C, int32_t, way);

/* The sizes of tiles of a surface, which are read in blocks of 32 bytes in every other line. */
static_assert(GSDF_SURFACE_MIN_TILE_PITCH(uint8_t, 64) == 96, "32 pixels of a byte");
static_assert(GSDF_SURFACE_MIN_TILE_PITCH(int16_t, 64) == 80, "16 of two");
static_assert(GSDF_SURFACE_MIN_TILE_HEIGHT(16) == 17, "one line");
static_assert(CIRCULAR_BUFFER_LINE_PITCH_ALIGNED(7) == 8, "even");

/* Both configurations gather from L2SRAM instead of what the host said. */
static void from_l2(void)
{
    ExtMemPointer l2;
    cupvaGetL2ExtMemPointer(&l2, 0);
    PlanarGeometry one = {};
    one.widths[0] = 64, one.heights[0] = 32, one.linePitches[0] = 64, one.numPlanes = 1;
    cupvaGSDFResetExtBase(gather, &l2, 64, 32, 64);
    cupvaGSDFCycleBuffers(gather);
    cupvaGSDFResetExtBase(&gather, &l2, &one);
    cupvaGSDFCycleBuffers(gather);
}

static void set(int32_t from)
{
    for (int32_t i = 0; i < 2; i++)
        cupvaGSDFUpdateTile(gather, i, places[from + i].x, places[from + i].y, WIDTH, HEIGHT);
}

static void send(int32_t number)
{
    /* An address of VMEM, as a number. */
    cupvaSQDFUpdateAddr(leave, 0, cupvaGetVmemAddress(regions), way == 'i' ? MEMTYPE_INVALID : MEMTYPE_VMEM,
                        found.base + found.offset + number * sizeof regions, MEMTYPE_DRAM);
    cupvaSQDFFlushAndTrig(leave);
    cupvaSQDFSync(leave);
}

CUPVA_VPU_MAIN()
{
    cupvaRasterDataFlowOpen(list, &places[0]);
    cupvaRasterDataFlowAcquire(list);
    if (!cupvaGSDFOpen(gather, &regions[0], WIDTH, WIDTH * HEIGHT))
        return 1;
    cupvaSQDFOpen(leave);
    if (way == 'l')
        from_l2();
    /* The second configuration is made while the first one has its own. */
    set(0);
    cupvaGSDFCycleBuffers(gather);
    set(2);
    cupvaGSDFCycleBuffers(gather);
    for (int32_t i = 0; i < COUNT / 2; i++) {
        if (i == 2)
            set(4);
        cupvaGSDFTrig(gather);
        cupvaGSDFCycleBuffers(gather);
        cupvaGSDFSync(gather);
        send(i);
    }
    cupvaSQDFClose(leave);
    cupvaGSDFClose(gather);
    cupvaRasterDataFlowRelease(list);
    cupvaRasterDataFlowClose(list);
    return 0;
}
