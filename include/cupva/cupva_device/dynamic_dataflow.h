/*
 * DynamicDataFlow (deprecated by the vendor) in a kernel: the tiles of its nodes, again and again, at
 * places that the kernel may change between two triggers.
 *
 * The table's first 64 bytes say which dataflow it is of; the layout of the vendor's behind them is
 * not public, so that functions which hand out parts of it stop the kernel with that explanation.
 * cupvaDDFUpdateAddr and cupvaDDFUpdateTileSize, named after those of SequenceDataFlow, do their work.
 */
#ifndef CUPVA_DEVICE_DYNAMIC_DATAFLOW_H
#define CUPVA_DEVICE_DYNAMIC_DATAFLOW_H

#include "device_core.h"
#include "sequence_dataflow.h"

#define CUPVA_DDF_MAX_NODE_NUM (4U)
#define CUPVA_DDF_MAX_LANE_NUM (8U)

/* 32-bit words of a table: for one lane, and for several. */
#define DDF_TBL_SIZE(nodes) (16 + 16 * (nodes))
#define DDF_PARALLEL_TBL_SIZE(nodesPerLane, lanes) (16 + 16 * (nodesPerLane) * (lanes))

typedef struct {
    cupvaFlowInfo info;
} DynamicDataFlowHandler;

template <> struct pva_kind_of<DynamicDataFlowHandler> {
    static constexpr uint64_t value = PVA_SYMBOL_DYNAMIC;
};

static inline uint32_t pvaDDFFlow(uint32_t const *table, bool lanes)
{
    cupvaFlowInfo const *info = (cupvaFlowInfo const *)(void const *)table;
    if (info->flow != 0 && lanes != (info->niterC > 1))
        pva_rt_misuse(lanes ? "a DynamicDataFlow of one lane: cupvaDDFOpen, Trig, Sync, Close"
                            : "a DynamicDataFlow of several lanes: cupvaDDFParallelOpen, Trig, "
                              "Sync, Close");
    return info->flow;
}

/* The nodes begin where the host has put them; the buffers' places are taken and not needed. */
static inline void cupvaDDFOpen(uint32_t *ddfBasePtr, ExtMemPointer, uint32_t)
{
    pva_rt_hold(pvaDDFFlow(ddfBasePtr, false), 1);
}

/* Makes the changes of nodes valid and moves a tile for each node. */
static inline void cupvaDDFTrig(uint32_t *ddfBasePtr)
{
    pva_rt_flush(pvaDDFFlow(ddfBasePtr, false));
    pva_rt_trigger(pvaDDFFlow(ddfBasePtr, false));
}

static inline void cupvaDDFSync(uint32_t *ddfBasePtr)
{
    pva_rt_sync(pvaDDFFlow(ddfBasePtr, false));
}

static inline void cupvaDDFClose(uint32_t *ddfBasePtr)
{
    pva_rt_hold(pvaDDFFlow(ddfBasePtr, false), 0);
}

static inline void cupvaDDFParallelOpen(uint32_t *ddfBasePtr, ExtMemPointer, uint32_t)
{
    pva_rt_hold(pvaDDFFlow(ddfBasePtr, true), 1);
}

static inline void cupvaDDFParallelTrig(uint32_t *ddfBasePtr)
{
    pva_rt_flush(pvaDDFFlow(ddfBasePtr, true));
    pva_rt_trigger(pvaDDFFlow(ddfBasePtr, true));
}

static inline void cupvaDDFParallelSync(uint32_t *ddfBasePtr)
{
    pva_rt_sync(pvaDDFFlow(ddfBasePtr, true));
}

static inline void cupvaDDFParallelClose(uint32_t *ddfBasePtr)
{
    pva_rt_hold(pvaDDFFlow(ddfBasePtr, true), 0);
}

/* Addresses of a node, from the next trigger on: pointers into VMEM, or what an ExtMemPointer holds.
 * `nodeIdx` counts the nodes of lane 0, then those of lane 1, and so on. */
static inline void cupvaDDFUpdateAddr(uint32_t *ddfBasePtr, uint8_t nodeIdx, uint64_t srcAddr,
                                      MemType srcMemType, uint64_t dstAddr, MemType dstMemType)
{
    uint32_t flow = ((cupvaFlowInfo const *)(void const *)ddfBasePtr)->flow;
    pvaStageSide(flow, nodeIdx, 0, srcAddr, (cupvaMemType)srcMemType, -1);
    pvaStageSide(flow, nodeIdx, 1, dstAddr, (cupvaMemType)dstMemType, -1);
}

/* Width and height in pixels. */
static inline void cupvaDDFUpdateTileSize(uint32_t *ddfBasePtr, uint8_t nodeIdx, uint16_t tx,
                                          uint16_t ty)
{
    pva_rt_stage_tile(((cupvaFlowInfo const *)(void const *)ddfBasePtr)->flow, nodeIdx, tx, ty);
}

/* --- parts of the vendor's table --- */

[[noreturn]] static inline void pvaNoRawTable(void)
{
    pva_rt_misuse("UnsupportedOperation: the raw table of a DynamicDataFlow is not documented "
                  "publicly; cupvaDDFUpdateAddr and cupvaDDFUpdateTileSize change nodes");
}
[[noreturn]] static inline uint32_t *cupvaDDFGetRawPtr1D(uint32_t *, uint8_t)
{
    pvaNoRawTable();
}
[[noreturn]] static inline uint32_t *cupvaDDFGetRawPtr2D(uint32_t *, uint8_t)
{
    pvaNoRawTable();
}
[[noreturn]] static inline bool cupvaDDFIsSrcVmem(uint32_t *, const uint32_t)
{
    pvaNoRawTable();
}
[[noreturn]] static inline bool cupvaDDFIsDstVmem(uint32_t *, const uint32_t)
{
    pvaNoRawTable();
}
[[noreturn]] static inline void cupvaDDFFlush(uint32_t *, uint32_t *, const uint8_t, const uint8_t)
{
    pvaNoRawTable();
}

/* --- a handler variable instead of a table --- */

static inline void cupvaDynamicDataFlowTrig(DynamicDataFlowHandler const &handler)
{
    pva_rt_trigger(handler.info.flow);
}

static inline void cupvaDynamicDataFlowSync(DynamicDataFlowHandler const &handler)
{
    pva_rt_sync(handler.info.flow);
}

#endif
