/*
 * RasterDataFlow in a kernel.
 *
 * Explicit handlers: VMEM(bank, RasterDataFlowHandler, name) with Trig, Sync and GetOffset. One
 * trigger more than there are tiles is harmless, and the first sync of an output returns at once.
 * Unified handlers: VMEM_RDF_UNIFIED(bank, name) with Open, Acquire, Release and Close.
 */
#ifndef CUPVA_RASTER_DATAFLOW_H
#define CUPVA_RASTER_DATAFLOW_H

#include "device_core.h"

typedef struct {
    cupvaFlowInfo info;
} RasterDataFlowHandler;

typedef struct {
    RasterDataFlowHandler hdl;
    void *buffer; /* NULL: closed */
    int32_t offset;
    int32_t acquired;
} UnifiedRDFHandler;

template <> struct pva_kind_of<RasterDataFlowHandler> {
    static constexpr uint64_t value = PVA_SYMBOL_RASTER;
};

/* Exports `name`, as the handler inside. */
#define VMEM_RDF_UNIFIED(bank, name)                                   \
    extern UnifiedRDFHandler name;                                     \
    PVA_RECORD(name.hdl, name, PVA_SYMBOL_RASTER_UNIFIED);             \
    PVA_SCALAR(bank, x, UnifiedRDFHandler, name)
#define VMEM_RDF_HANDLER(bank, name) VMEM(bank, RasterDataFlowHandler, name)
#define EXTERN_VMEM_RDF_UNIFIED(bank, name) EXTERN_VMEM(bank, UnifiedRDFHandler, name)

/* --- explicit --- */

static inline void cupvaRasterDataFlowTrig(RasterDataFlowHandler const &handler)
{
    pva_rt_trigger(handler.info.flow);
}

static inline void cupvaRasterDataFlowSync(RasterDataFlowHandler const &handler)
{
    pva_rt_sync(handler.info.flow);
}

/* Pixels from the start of the tile buffer to the tile after the one at `current`. */
static inline int32_t cupvaRasterDataFlowGetOffset(RasterDataFlowHandler const &handler, int32_t current)
{
    const cupvaFlowInfo &info = handler.info;
    if (info.layout == 2)
        return current == 0 ? info.half / info.bpp : 0;
    return info.layout == 3 ? (current + info.advance) % info.ring : 0;
}

/* Pixels from one line of a tile to the next. */
static inline int32_t cupvaRasterDataFlowGetLinePitch(RasterDataFlowHandler const &handler)
{
    return handler.info.linePitch;
}

/* 1 single, 2 double, 3 circular. */
static inline uint8_t cupvaRasterDataFlowGetLayout(RasterDataFlowHandler const &handler)
{
    return (uint8_t)handler.info.layout;
}

/* Circular buffers: pixels from one tile to the next. */
static inline int32_t cupvaRasterDataFlowGetAdvance(RasterDataFlowHandler const &handler)
{
    return handler.info.advance;
}

/* Circular buffers: pixels after which an offset starts over. */
static inline int32_t cupvaRasterDataFlowGetCbLen(RasterDataFlowHandler const &handler)
{
    return handler.info.ring;
}

/* 0, 1 or 2 for pixels of 1, 2 or 4 bytes. */
static inline int32_t cupvaRasterDataFlowGetBppLog2(RasterDataFlowHandler const &handler)
{
    return handler.info.bppLog2;
}

/* --- unified --- */

static inline void cupvaRasterDataFlowTrig(UnifiedRDFHandler const &handler)
{
    cupvaRasterDataFlowTrig(handler.hdl);
}

static inline void cupvaRasterDataFlowSync(UnifiedRDFHandler const &handler)
{
    cupvaRasterDataFlowSync(handler.hdl);
}

static inline int32_t cupvaRasterDataFlowGetOffset(UnifiedRDFHandler const &handler, int32_t current)
{
    return cupvaRasterDataFlowGetOffset(handler.hdl, current);
}

static inline int32_t cupvaRasterDataFlowGetLinePitch(UnifiedRDFHandler const &handler)
{
    return handler.hdl.info.linePitch;
}

static inline int32_t cupvaRasterDataFlowGetAdvance(UnifiedRDFHandler const &handler)
{
    return handler.hdl.info.advance;
}

static inline int32_t cupvaRasterDataFlowGetCbLen(UnifiedRDFHandler const &handler)
{
    return handler.hdl.info.ring;
}

static inline int32_t cupvaRasterDataFlowGetBppLog2(UnifiedRDFHandler const &handler)
{
    return handler.hdl.info.bppLog2;
}

/* `buffer`: the tile buffer that the host named with tileBuffer(). */
static inline void cupvaRasterDataFlowOpen(UnifiedRDFHandler &handler, void *buffer)
{
    if (handler.buffer)
        pva_rt_misuse("cupvaRasterDataFlowOpen of a dataflow that is open");
    handler.buffer = buffer;
    handler.offset = 0;
    handler.acquired = 0;
    pva_rt_hold(handler.hdl.info.flow, 1);
}

/* The next tile: filled when the dataflow reads, to be filled when it writes. */
static inline void *cupvaRasterDataFlowAcquire(UnifiedRDFHandler &handler)
{
    const cupvaFlowInfo &info = handler.hdl.info;
    if (!handler.buffer)
        pva_rt_misuse("cupvaRasterDataFlowAcquire before cupvaRasterDataFlowOpen");
    if (handler.acquired)
        pva_rt_misuse("cupvaRasterDataFlowAcquire twice without cupvaRasterDataFlowRelease");
    handler.acquired = 1;
    if (info.reads)
        pva_rt_trigger(info.flow);
    pva_rt_sync(info.flow);
    return (uint8_t *)handler.buffer + (int64_t)handler.offset * info.bpp;
}

/* Done with the tile; a writing dataflow takes it away. */
static inline void cupvaRasterDataFlowRelease(UnifiedRDFHandler &handler)
{
    if (!handler.acquired)
        pva_rt_misuse("cupvaRasterDataFlowRelease without cupvaRasterDataFlowAcquire");
    handler.acquired = 0;
    if (!handler.hdl.info.reads)
        pva_rt_trigger(handler.hdl.info.flow);
    handler.offset = cupvaRasterDataFlowGetOffset(handler.hdl, handler.offset);
}

/* Returns when everything has been moved. */
static inline void cupvaRasterDataFlowClose(UnifiedRDFHandler &handler)
{
    if (!handler.buffer)
        pva_rt_misuse("cupvaRasterDataFlowClose of a dataflow that is not open");
    if (handler.acquired)
        pva_rt_misuse("cupvaRasterDataFlowClose before cupvaRasterDataFlowRelease");
    handler.buffer = 0;
    pva_rt_hold(handler.hdl.info.flow, 0);
}

#endif
