/*
 * SequenceDataFlow in a kernel: a list of transfers that can be run again and again, with addresses
 * and tile sizes that the kernel may change between two runs. Changes wait until
 * cupvaSQDFFlushAndTrig(); a plain trigger runs the sequence as it was.
 */
#ifndef CUPVA_SEQUENCE_DATAFLOW_H
#define CUPVA_SEQUENCE_DATAFLOW_H

#include "device_core.h"

typedef struct {
    cupvaFlowInfo info;
} SequenceDataFlowHandler;

template <> struct pva_kind_of<SequenceDataFlowHandler> {
    static constexpr uint64_t value = PVA_SYMBOL_SEQUENCE;
};

#define VMEM_SEQDF_HANDLER(bank, name) VMEM(bank, SequenceDataFlowHandler, name)
#define EXTERN_VMEM_SEQDF_HANDLER(bank, name) EXTERN_VMEM(bank, SequenceDataFlowHandler, name)

static inline void cupvaSQDFOpen(SequenceDataFlowHandler const &handler)
{
    pva_rt_hold(handler.info.flow, 1);
}

/* What one trigger moves depends on the modes of the transfers: a tile, a dimension, or on to the
 * next transfer that waits for a trigger. At the end the sequence starts over. */
static inline void cupvaSQDFTrig(SequenceDataFlowHandler const &handler)
{
    pva_rt_trigger(handler.info.flow);
}

static inline void cupvaSQDFSync(SequenceDataFlowHandler const &handler)
{
    pva_rt_sync(handler.info.flow);
}

static inline void cupvaSQDFClose(SequenceDataFlowHandler const &handler)
{
    pva_rt_hold(handler.info.flow, 0);
}

/* The next synchronisation point of each of several sequences. */
static inline void cupvaSQDFSync(SequenceDataFlowHandler **handlers, uint32_t num_handlers)
{
    for (uint32_t i = 0; i < num_handlers; i++)
        cupvaSQDFSync(*handlers[i]);
}

/* --- changes --- */

/* Where an address points to, as the functions below are documented; cupvaMemType is the same. */
enum MemType {
    MEMTYPE_INVALID = 0,
    MEMTYPE_DRAM = MEM_TYPE_DRAM,
    MEMTYPE_VMEM = MEM_TYPE_VMEM,
    MEMTYPE_SRAM = MEM_TYPE_L2SRAM
};

/* An address of the memory that `type` names: a pointer into VMEM or what cupvaGetVmemAddress() makes of
 * it, or what an ExtMemPointer holds. */
static inline void pvaStageSide(uint32_t flow, uint32_t index, int destination, uint64_t address,
                                cupvaMemType type, int64_t pitch)
{
    uint64_t mask = ((uint64_t)1 << CUPVA_IOVA_SPACE_SHIFT) - 1;
    if (type == MEM_TYPE_VMEM && address >= (uintptr_t)cupvaGetVmemBase())
        address = cupvaGetVmemAddress((const void *)(uintptr_t)address);
    pva_rt_stage_side(flow, index, destination, (int)type - 1, address & mask, pitch);
}

/* Addresses of transfer `index` (from 0), in the order of addTransfer(). */
static inline void cupvaSQDFUpdateAddr(SequenceDataFlowHandler const &handler, uint32_t index,
                                       uint64_t srcAddr, cupvaMemType srcMemType, uint64_t dstAddr,
                                       cupvaMemType dstMemType)
{
    pvaStageSide(handler.info.flow, index, 0, srcAddr, srcMemType, -1);
    pvaStageSide(handler.info.flow, index, 1, dstAddr, dstMemType, -1);
}

/* The same with line pitches in bytes. */
static inline void cupvaSQDFUpdateAddr(SequenceDataFlowHandler const &handler, uint32_t index,
                                       uint64_t srcAddr, cupvaMemType srcMemType, int32_t srcPitch,
                                       uint64_t dstAddr, cupvaMemType dstMemType, int32_t dstPitch)
{
    pvaStageSide(handler.info.flow, index, 0, srcAddr, srcMemType, srcPitch);
    pvaStageSide(handler.info.flow, index, 1, dstAddr, dstMemType, dstPitch);
}

static inline void cupvaSQDFUpdateAddr(SequenceDataFlowHandler const &handler, uint32_t index,
                                       uint64_t srcAddr, MemType srcMemType, uint64_t dstAddr,
                                       MemType dstMemType)
{
    cupvaSQDFUpdateAddr(handler, index, srcAddr, (cupvaMemType)srcMemType, dstAddr,
                        (cupvaMemType)dstMemType);
}

static inline void cupvaSQDFUpdateAddr(SequenceDataFlowHandler const &handler, uint32_t index,
                                       uint64_t srcAddr, MemType srcMemType, uint16_t srcPitch,
                                       uint64_t dstAddr, MemType dstMemType, uint16_t dstPitch)
{
    cupvaSQDFUpdateAddr(handler, index, srcAddr, (cupvaMemType)srcMemType, (int32_t)srcPitch,
                        dstAddr, (cupvaMemType)dstMemType, (int32_t)dstPitch);
}

/* Width and height of the tiles of transfer `index`, in its pixels. */
static inline void cupvaSQDFUpdateTileSize(SequenceDataFlowHandler const &handler, uint32_t index,
                                           uint16_t tx, uint16_t ty)
{
    pva_rt_stage_tile(handler.info.flow, index, tx, ty);
}

/* Makes the changes valid and triggers. Only when the sequence is idle. */
static inline void cupvaSQDFFlushAndTrig(SequenceDataFlowHandler const &handler)
{
    pva_rt_flush(handler.info.flow);
    pva_rt_trigger(handler.info.flow);
}

#endif
