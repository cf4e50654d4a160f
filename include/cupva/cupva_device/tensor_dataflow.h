/*
 * TensorDataFlow in a kernel: VMEM_TDF_HANDLER(bank, name), Open, Acquire, Release, Close. Tiles come
 * depth first: for each of GetNiterHW() places, GetNiterC() transfers. Planes follow each other in
 * the tile, GetTilePlaneSize() pixels apart.
 */
#ifndef CUPVA_TENSOR_DATAFLOW_H
#define CUPVA_TENSOR_DATAFLOW_H

#include "raster_dataflow.h"

typedef struct {
    UnifiedRDFHandler ctx;
    TensorDataFlowParams params;
    int32_t transfers; /* acquired since the dataflow was opened */
} TDFHandler;

/* Exports `name`, and the parameters as `_M<name>`. */
#define VMEM_TDF_HANDLER(bank, name)                                   \
    extern TDFHandler name;                                            \
    PVA_RECORD(name.ctx.hdl, name, PVA_SYMBOL_TENSOR);                 \
    PVA_RECORD(name.params, _M##name, PVA_SYMBOL_DATA);                \
    PVA_SCALAR(bank, x, TDFHandler, name)
#define EXTERN_VMEM_TDF_HANDLER(bank, name) EXTERN_VMEM(bank, TDFHandler, name)

static inline void cupvaTensorDataFlowOpen(TDFHandler &handler, void *buffer)
{
    const cupvaFlowInfo &info = handler.ctx.hdl.info;
    cupvaRasterDataFlowOpen(handler.ctx, buffer);
    handler.transfers = 0;
    handler.params.tilePlaneSize = (uint32_t)info.planeSize;
    handler.params.tileDepth[0] = (uint32_t)info.planes;
    handler.params.tileDepth[1] = (uint32_t)(info.remainder ? info.remainder : info.planes);
    handler.params.niterHW = (uint32_t)info.niterHW;
    handler.params.numSlices = info.remainder ? 2 : 1;
}

static inline void *cupvaTensorDataFlowAcquire(TDFHandler &handler)
{
    void *tile = cupvaRasterDataFlowAcquire(handler.ctx);
    handler.transfers++;
    return tile;
}

static inline void cupvaTensorDataFlowRelease(TDFHandler &handler)
{
    cupvaRasterDataFlowRelease(handler.ctx);
}

static inline void cupvaTensorDataFlowClose(TDFHandler &handler)
{
    cupvaRasterDataFlowClose(handler.ctx);
}

static inline int32_t cupvaTensorDataFlowGetBppLog2(TDFHandler const &handler)
{
    return handler.ctx.hdl.info.bppLog2;
}

/* Transfers in depth at one place. */
static inline int32_t cupvaTensorDataFlowGetNiterC(TDFHandler const &handler)
{
    return handler.ctx.hdl.info.niterC;
}

/* Places: tiles in width times tiles in height. */
static inline int32_t cupvaTensorDataFlowGetNiterHW(TDFHandler const &handler)
{
    return handler.ctx.hdl.info.niterHW;
}

static inline bool cupvaTensorDataFlowZHasRemainder(TDFHandler const &handler)
{
    return handler.ctx.hdl.info.remainder != 0;
}

/* Planes in the transfer that was acquired last, or in the first one before that. */
static inline int32_t cupvaTensorDataFlowGetNumTiles(TDFHandler const &handler)
{
    const cupvaFlowInfo &info = handler.ctx.hdl.info;
    bool last = handler.transfers % info.niterC == 0 && handler.transfers != 0;
    if (info.niterC == 1)
        last = true;
    return info.remainder && last ? info.remainder : info.planes;
}

/* Pixels from one line of a tile to the next. */
static inline int32_t cupvaTensorDataFlowGetTileLinePitch(TDFHandler const &handler)
{
    return handler.ctx.hdl.info.linePitch;
}

/* Pixels from one plane of a tile to the next. */
static inline int32_t cupvaTensorDataFlowGetTilePlaneSize(TDFHandler const &handler)
{
    return handler.ctx.hdl.info.planeSize;
}

#endif
