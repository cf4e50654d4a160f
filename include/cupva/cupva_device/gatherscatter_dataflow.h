/*
 * GatherScatterDataFlow in a kernel: tiles at places that the kernel chooses, several with one
 * trigger. The names of the functions that set a tile, trigger and sync are chosen here after those
 * that are known; the vendor's were not available.
 */
#ifndef CUPVA_GATHERSCATTER_DATAFLOW_H
#define CUPVA_GATHERSCATTER_DATAFLOW_H

#include "device_core.h"

#define GSDF_MAX_TILES 32
#define GSDF_UNIFORM 1

/* Surfaces need room left of and above a tile in VMEM: block-linear memory is read in blocks. */
#define GSDF_BL_X_OFFSET(type) (64 / (int32_t)sizeof(type))
#define GSDF_BL_Y_OFFSET 2
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

/* `info`: planes is the number of tiles of a trigger, advance and ring are width and height of the
 * memory outside, layout the padding mode (1 constant, 2 nearest pixel). */
typedef struct {
    cupvaFlowInfo info;
    int32_t x[GSDF_MAX_TILES], y[GSDF_MAX_TILES];
    uint16_t w[GSDF_MAX_TILES], h[GSDF_MAX_TILES];
    int32_t width, height;
    uint32_t vmem, stride, pitch, tiles, open;
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
    static_assert((n) >= 1 && (n) <= GSDF_MAX_TILES, "1 to 32 tiles with one trigger");    \
    VMEM(bank, GSDFHandler, name)
#define PVA_GS4(bank, name, n, uniform)                                                   \
    static_assert((n) >= 1 && (n) <= GSDF_MAX_TILES, "1 to 32 tiles with one trigger");    \
    VMEM(bank, GSDFHandlerUniform, name)

/* Tile i lies at `vmem` + i * stride; pitch and stride in pixels. False when it is open. */
static inline bool cupvaGSDFOpen(GSDFHandler &handler, void *vmem, uint16_t linePitch, uint32_t stride)
{
    if (handler.open)
        return false;
    handler.open = 1;
    handler.vmem = cupvaGetVmemAddress(vmem);
    handler.pitch = linePitch;
    handler.stride = stride;
    handler.tiles = handler.info.planes < 1 ? 1 : (uint32_t)handler.info.planes;
    handler.width = handler.info.advance;
    handler.height = handler.info.ring;
    return true;
}

static inline void cupvaGSDFUpdateVmemAddr(GSDFHandler &handler, void *vmem)
{
    handler.vmem = cupvaGetVmemAddress(vmem);
}

/* Tile `index` of the next trigger: its place outside and its size, in pixels. */
static inline void cupvaGSDFUpdateTile(GSDFHandler &handler, uint32_t index, int32_t x, int32_t y,
                                       uint16_t width, uint16_t height)
{
    if (index >= GSDF_MAX_TILES)
        pva_rt_misuse("cupvaGSDFUpdateTile of a tile beyond the 32 of a trigger");
    handler.x[index] = x;
    handler.y[index] = y;
    handler.w[index] = width;
    handler.h[index] = height;
}

static inline void cupvaGSDFTrig(GSDFHandler &handler)
{
    if (!handler.open)
        pva_rt_misuse("cupvaGSDFTrig before cupvaGSDFOpen");
    for (uint32_t i = 0; i < handler.tiles; i++) {
        pva_gather gather = {handler.x[i], handler.y[i], handler.width, handler.height, handler.w[i],
                             handler.h[i], handler.pitch,
                             handler.vmem + i * handler.stride * (uint32_t)handler.info.bpp,
                             (uint32_t)handler.info.layout};
        if (gather.w && gather.h)
            pva_rt_gather(handler.info.flow, &gather);
    }
}

/* Waits for the tiles of all triggers. */
static inline void cupvaGSDFSync(GSDFHandler &handler)
{
    if (!handler.open)
        pva_rt_misuse("cupvaGSDFSync before cupvaGSDFOpen");
    pva_rt_gather_sync(handler.info.flow);
}

/* Configurations take effect with their trigger, so there is nothing to cycle. */
static inline void cupvaGSDFCycleBuffers(GSDFHandler &)
{
}

static inline void cupvaGSDFClose(GSDFHandler &handler)
{
    handler.open = 0;
}

static inline bool cupvaGSDFOpen(GSDFHandlerUniform &handler, void *vmem, uint16_t linePitch,
                                 uint32_t stride)
{
    return cupvaGSDFOpen(handler.tiles, vmem, linePitch, stride);
}
static inline void cupvaGSDFUpdateVmemAddr(GSDFHandlerUniform &handler, void *vmem)
{
    cupvaGSDFUpdateVmemAddr(handler.tiles, vmem);
}
static inline void cupvaGSDFUpdateTile(GSDFHandlerUniform &handler, uint32_t index, int32_t x,
                                       int32_t y, uint16_t width, uint16_t height)
{
    cupvaGSDFUpdateTile(handler.tiles, index, x, y, width, height);
}
static inline void cupvaGSDFTrig(GSDFHandlerUniform &handler)
{
    cupvaGSDFTrig(handler.tiles);
}
static inline void cupvaGSDFSync(GSDFHandlerUniform &handler)
{
    cupvaGSDFSync(handler.tiles);
}
static inline void cupvaGSDFCycleBuffers(GSDFHandlerUniform &)
{
}
static inline void cupvaGSDFClose(GSDFHandlerUniform &handler)
{
    cupvaGSDFClose(handler.tiles);
}

/* The vendor's functions take pointers to handlers. */
#define PVA_GSDF_POINTERS(handler_type)                                                            \
    static inline bool cupvaGSDFOpen(handler_type *handler, void *vmem, uint16_t linePitch,        \
                                     uint32_t stride)                                              \
    {                                                                                              \
        return cupvaGSDFOpen(*handler, vmem, linePitch, stride);                                   \
    }                                                                                              \
    static inline void cupvaGSDFUpdateVmemAddr(handler_type *handler, void *vmem)                  \
    {                                                                                              \
        cupvaGSDFUpdateVmemAddr(*handler, vmem);                                                   \
    }                                                                                              \
    static inline void cupvaGSDFUpdateTile(handler_type *handler, uint32_t index, int32_t x,       \
                                           int32_t y, uint16_t width, uint16_t height)             \
    {                                                                                              \
        cupvaGSDFUpdateTile(*handler, index, x, y, width, height);                                 \
    }                                                                                              \
    static inline void cupvaGSDFTrig(handler_type *handler) { cupvaGSDFTrig(*handler); }           \
    static inline void cupvaGSDFSync(handler_type *handler) { cupvaGSDFSync(*handler); }           \
    static inline void cupvaGSDFCycleBuffers(handler_type *handler)                                \
    {                                                                                              \
        cupvaGSDFCycleBuffers(*handler);                                                           \
    }                                                                                              \
    static inline void cupvaGSDFClose(handler_type *handler) { cupvaGSDFClose(*handler); }

PVA_GSDF_POINTERS(GSDFHandler)
PVA_GSDF_POINTERS(GSDFHandlerUniform)

#endif
