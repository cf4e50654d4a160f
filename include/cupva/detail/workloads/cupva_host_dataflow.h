/*
 * cupva_host_dataflow.h - everything that a dataflow is told, in one call.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_DATAFLOW_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_DATAFLOW_H

#include "cupva_host_types_workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

DLL_EXPORT cupvaError_t CupvaStaticDataFlowSetParams(cupvaDataFlow_t dataFlow,
                                            cupvaStaticDataFlowParams_t const *params);
DLL_EXPORT cupvaError_t CupvaRasterDataFlowSetParams(cupvaDataFlow_t dataFlow,
                                            cupvaRasterDataFlowParams_t const *params);
DLL_EXPORT cupvaError_t CupvaTensorDataFlowSetParams(cupvaDataFlow_t dataFlow,
                                            cupvaTensorDataFlowParams_t const *params);
DLL_EXPORT cupvaError_t CupvaSequenceDataFlowSetParams(cupvaDataFlow_t dataFlow,
                                              cupvaSequenceDataFlowParams_t const *params);
DLL_EXPORT cupvaError_t CupvaSequenceDataFlowAddTransfer(
    cupvaDataFlow_t dataFlow, cupvaSequenceDataFlowTransferParams_t const *params);
DLL_EXPORT cupvaError_t CupvaGatherScatterDataFlowSetParams(
    cupvaDataFlow_t dataFlow, cupvaGatherScatterDataFlowParams_t const *params);
DLL_EXPORT cupvaError_t CupvaDynamicDataFlowSetParams(cupvaDataFlow_t dataFlow,
                                             cupvaDynamicDataFlowParams_t const *params);
DLL_EXPORT cupvaError_t CupvaSetNodeParams(cupvaDataFlow_t dataFlow, int32_t nodeId, int32_t laneId,
                                  cupvaNodeParams_t const *params);
DLL_EXPORT cupvaError_t CupvaConfigDataFlowSetParams(cupvaDataFlow_t dataFlow,
                                            cupvaConfigDataFlowParams_t const *params);

/* Puts the list of df2 at the end of that of df1; with Link, its transfers need triggers of their own,
   with Append they run on when what is before them is done. */
DLL_EXPORT cupvaError_t CupvaDataFlowLink(cupvaDataFlow_t const df1, cupvaDataFlow_t const df2);
DLL_EXPORT cupvaError_t CupvaDataFlowAppend(cupvaDataFlow_t const df1, cupvaDataFlow_t const df2);

/* Only after the dataflows were compiled. */
DLL_EXPORT cupvaError_t CupvaDataFlowGetId(cupvaDataFlow_t dataFlow, int32_t *id);

#ifdef __cplusplus
}
#endif

#endif
