/*
 * GatherScatterDataFlow in a kernel: tiles at places that the kernel chooses, several with one
 * trigger. The names of the functions that set a tile, trigger and sync are chosen here after those
 * that are known; the vendor's were not available.
 */
#ifndef CUPVA_GATHERSCATTER_DATAFLOW_H
#define CUPVA_GATHERSCATTER_DATAFLOW_H

#include "device_core.h"

#define GSDF_MAX_NUM_TILES 32
#define GSDF_UNIFORM 1

/* Surfaces need room left of and above a tile in VMEM: block-linear memory is read in blocks of 32
 * bytes in every other line. */
#define GSDF_BL_X_ALIGN 32
#define GSDF_BL_Y_ALIGN 2
#define GSDF_BL_X_OFFSET(type) (GSDF_BL_X_ALIGN / (int32_t)sizeof(type))
#define GSDF_BL_Y_OFFSET 1
/* All in pixels: pitch and height of a tile, from one tile to the next, all `nt` tiles, and where
 * the first pixel of the first tile lies. */
#define GSDF_SURFACE_MIN_TILE_PITCH(type, tw) ((tw) + GSDF_BL_X_OFFSET(type))
#define GSDF_SURFACE_MIN_TILE_HEIGHT(th) ((th) + GSDF_BL_Y_OFFSET)
#define GSDF_SURFACE_MIN_TILE_STRIDE(type, tw, th)                                         \
    (GSDF_SURFACE_MIN_TILE_PITCH(type, tw) * GSDF_SURFACE_MIN_TILE_HEIGHT(th))
#define GSDF_SURFACE_MIN_TILEBUFFER_SIZE(type, tw, th, nt)                                 \
    (GSDF_SURFACE_MIN_TILE_STRIDE(type, tw, th) * (nt))
#define GSDF_SURFACE_TILE_OFFSET(type, pitch)                                              \
    (GSDF_BL_Y_OFFSET * (pitch) + GSDF_BL_X_OFFSET(type))

/* What a trigger does. There are two of them: one can be changed while the other is moved. */
typedef struct {
    int32_t x[GSDF_MAX_NUM_TILES], y[GSDF_MAX_NUM_TILES];
    uint16_t w[GSDF_MAX_NUM_TILES], h[GSDF_MAX_NUM_TILES];
    uint64_t external; /* address, or PVA_GATHER_FROM_HOST */
    int32_t width, height, externalPitch;
    uint32_t vmem;
} GSDFConfiguration;

/* `info`: planes is the number of tiles of a trigger, advance and ring are width and height of the
 * memory outside, layout the padding mode (1 constant, 2 nearest pixel). */
typedef struct {
    cupvaFlowInfo info;
    GSDFConfiguration configurations[2];
    uint32_t active, stride, pitch, tiles, open;
} GSDFHandler;

/* All tiles have the same size. */
typedef struct {
    GSDFHandler tiles;
} GSDFHandlerUniform;

template <> struct pva_kind_of<GSDFHandler> {
    static constexpr uint64_t value = PVA_SYMBOL_GATHER_SCATTER;
};
template <> struct pva_kind_of<GSDFHandlerUniform> {
    static constexpr uint64_t value = PVA_SYMBOL_GATHER_SCATTER;
};

/* VMEM_GSDF_HANDLER(bank, name, numTiles[, GSDF_UNIFORM]) */
#define VMEM_GSDF_HANDLER(...) \
    PVA_PICK(__VA_ARGS__, , , PVA_GS4, PVA_GS3, , , )(__VA_ARGS__)
#define PVA_GS3(bank, name, n)                                                            \
    static_assert((n) >= 1 && (n) <= GSDF_MAX_NUM_TILES, "1 to 32 tiles with one trigger");    \
    VMEM(bank, GSDFHandler, name)
#define PVA_GS4(bank, name, n, uniform)                                                   \
    static_assert((n) >= 1 && (n) <= GSDF_MAX_NUM_TILES, "1 to 32 tiles with one trigger");    \
    VMEM(bank, GSDFHandlerUniform, name)

/* The core of the functions below, of which there is one for each way to name a handler. */
namespace pva {

static inline bool gsdf_open(GSDFHandler &handler, void *vmem, uint16_t linePitch, uint32_t stride)
{
    if (handler.open)
        return false;
    handler.open = 1;
    handler.active = 0;
    handler.pitch = linePitch;
    handler.stride = stride;
    handler.tiles = handler.info.planes < 1 ? 1 : (uint32_t)handler.info.planes;
    for (GSDFConfiguration &one : handler.configurations) {
        one.vmem = cupvaGetVmemAddress(vmem);
        one.external = PVA_GATHER_FROM_HOST;
        one.width = handler.info.advance;
        one.height = handler.info.ring;
    }
    return true;
}

static inline GSDFConfiguration &gsdf_active(GSDFHandler &handler)
{
    return handler.configurations[handler.active];
}

static inline bool gsdf_reset(GSDFHandler &handler, ExtMemPointer const *at, uint64_t behind,
                              uint16_t width, uint16_t height, uint16_t pitch)
{
    if (!handler.open || !at)
        return false;
    GSDFConfiguration &one = gsdf_active(handler);
    one.external = at->base + (uint64_t)at->offset + behind;
    if (one.external >> CUPVA_IOVA_SPACE_SHIFT == CUPVA_IOVA_VMEM)
        pva_rt_misuse("cupvaGSDFResetExtBase with a pointer into VMEM");
    one.width = width;
    one.height = height;
    one.externalPitch = pitch;
    return true;
}

/* The first plane: which of several a tile is in was said by functions whose names are not known. */
static inline bool gsdf_reset(GSDFHandler &handler, ExtMemPointer const *at, PlanarGeometry const *planes)
{
    if (!planes || planes->numPlanes < 1)
        return false;
    if (planes->numPlanes > 1)
        pva_rt_misuse("cupvaGSDFResetExtBase with more than one plane");
    return gsdf_reset(handler, at, (uint64_t)planes->planeOffsets[0] * (uint64_t)handler.info.bpp,
                      planes->widths[0], planes->heights[0], planes->linePitches[0]);
}

static inline void gsdf_update(GSDFHandler &handler, uint32_t index, int32_t x, int32_t y, uint16_t width,
                               uint16_t height)
{
    if (index >= GSDF_MAX_NUM_TILES)
        pva_rt_misuse("cupvaGSDFUpdateTile of a tile beyond the 32 of a trigger");
    GSDFConfiguration &one = gsdf_active(handler);
    one.x[index] = x;
    one.y[index] = y;
    one.w[index] = width;
    one.h[index] = height;
}

static inline void gsdf_trigger(GSDFHandler &handler)
{
    if (!handler.open)
        pva_rt_misuse("cupvaGSDFTrig before cupvaGSDFOpen");
    GSDFConfiguration const &one = gsdf_active(handler);
    for (uint32_t i = 0; i < handler.tiles; i++) {
        pva_gather gather = {one.x[i], one.y[i], one.width, one.height, one.w[i], one.h[i], handler.pitch,
                             one.vmem + i * handler.stride * (uint32_t)handler.info.bpp,
                             (uint32_t)handler.info.layout, one.externalPitch, one.external};
        if (gather.w && gather.h)
            pva_rt_gather(handler.info.flow, &gather);
    }
}

static inline void gsdf_sync(GSDFHandler const &handler)
{
    if (!handler.open)
        pva_rt_misuse("cupvaGSDFSync before cupvaGSDFOpen");
    pva_rt_gather_sync(handler.info.flow);
}

} // namespace pva

/* Of handlers and uniform ones, by pointer, as the vendor's are, and by reference.
 * cupvaGSDFOpen: tile i lies at `vmem` + i * stride; pitch and stride in pixels; false when it is open.
 * cupvaGSDFResetExtBase: the active configuration gathers from there, or scatters to there, instead of
 * the memory that the host gave. cupvaGSDFUpdateTile: place outside and size, in pixels.
 * cupvaGSDFSync: waits for the tiles of all triggers. */
#define PVA_GSDF_FUNCTIONS(parameter, handler)                                                         \
    static inline bool cupvaGSDFOpen(parameter, void *vmem, uint16_t linePitch, uint32_t stride)       \
    {                                                                                                  \
        return pva::gsdf_open(handler, vmem, linePitch, stride);                                       \
    }                                                                                                  \
    static inline bool cupvaGSDFResetExtBase(parameter, ExtMemPointer const *addr, uint16_t width,     \
                                             uint16_t height, uint16_t linePitch)                      \
    {                                                                                                  \
        return pva::gsdf_reset(handler, addr, 0, width, height, linePitch);                            \
    }                                                                                                  \
    static inline bool cupvaGSDFResetExtBase(parameter, ExtMemPointer const *addr,                     \
                                             PlanarGeometry const *geometry)                           \
    {                                                                                                  \
        return pva::gsdf_reset(handler, addr, geometry);                                               \
    }                                                                                                  \
    static inline void cupvaGSDFUpdateVmemAddr(parameter, void *vmem)                                  \
    {                                                                                                  \
        pva::gsdf_active(handler).vmem = cupvaGetVmemAddress(vmem);                                    \
    }                                                                                                  \
    static inline void cupvaGSDFUpdateTile(parameter, uint32_t index, int32_t x, int32_t y,            \
                                           uint16_t width, uint16_t height)                            \
    {                                                                                                  \
        pva::gsdf_update(handler, index, x, y, width, height);                                         \
    }                                                                                                  \
    static inline void cupvaGSDFTrig(parameter) { pva::gsdf_trigger(handler); }                        \
    static inline void cupvaGSDFSync(parameter) { pva::gsdf_sync(handler); }                           \
    static inline void cupvaGSDFCycleBuffers(parameter) { (handler).active ^= 1; }                     \
    static inline void cupvaGSDFClose(parameter) { (handler).open = 0; }

PVA_GSDF_FUNCTIONS(GSDFHandler *named, *named)
PVA_GSDF_FUNCTIONS(GSDFHandler &named, named)
PVA_GSDF_FUNCTIONS(GSDFHandlerUniform *named, named->tiles)
PVA_GSDF_FUNCTIONS(GSDFHandlerUniform &named, named.tiles)

#endif
