/*
 * DynamicDataFlow (deprecated by the vendor) in a kernel: triggers and syncs of what the host
 * described. Changes of its nodes by the kernel do not exist here.
 */
#ifndef CUPVA_DYNAMIC_DATAFLOW_H
#define CUPVA_DYNAMIC_DATAFLOW_H

#include "device_core.h"

typedef struct {
    cupvaFlowInfo info;
} DynamicDataFlowHandler;

template <> struct pva_kind_of<DynamicDataFlowHandler> {
    static constexpr uint64_t value = PVA_SYMBOL_DYNAMIC;
};

static inline void cupvaDynamicDataFlowTrig(DynamicDataFlowHandler const &handler)
{
    pva_rt_trigger(handler.info.flow);
}

static inline void cupvaDynamicDataFlowSync(DynamicDataFlowHandler const &handler)
{
    pva_rt_sync(handler.info.flow);
}

#endif
