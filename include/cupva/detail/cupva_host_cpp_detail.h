/*
 * cupva_host_cpp_detail.h - what the C++ classes call; not a part of the PVA SDK.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_CPP_DETAIL_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_CPP_DETAIL_H

#include "../cupva_host_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a dataflow is told one by one. Values in the order that the comment says; a pointer is
   followed by 1 when it points to a cupvaOffsetPointer_t, else 0. */
typedef enum {
    CUPVA_SIM_BPP = 1, /* bytes */
    CUPVA_SIM_TILE = 2, /* width, height[, depth] */
    CUPVA_SIM_PAD_DIM = 3, /* sides: TOP 1, BOTTOM 2, LEFT 4, RIGHT 8; pixels */
    CUPVA_SIM_PAD_VAL = 4, /* cupvaPadModeType_t, value */
    CUPVA_SIM_GRANULARITY = 5, /* cupvaGranType_t */
    CUPVA_SIM_SRC = 6, /* pointer, kind */
    CUPVA_SIM_DST = 7, /* pointer, kind, second pointer, kind */
    CUPVA_SIM_SRC_LINE_PITCH = 8,
    CUPVA_SIM_DST_LINE_PITCH = 9,
    CUPVA_SIM_SRC_DIM = 10, /* 1 to 3, niter, adv */
    CUPVA_SIM_DST_DIM = 11,
    CUPVA_SIM_SRC_CIRCULAR = 12, /* start, length */
    CUPVA_SIM_DST_CIRCULAR = 13,
    CUPVA_SIM_IMAGE_SRC = 14, /* pointer, kind, width, height, line pitch, bpp */
    CUPVA_SIM_IMAGE_DST = 15,
    CUPVA_SIM_TENSOR_SRC = 16, /* pointer, kind, width, height, depth, row stride, depth stride, bpp */
    CUPVA_SIM_TENSOR_DST = 17,
    CUPVA_SIM_TILE_BUFFER = 18, /* pointer, kind */
    CUPVA_SIM_HALO = 19, /* x, y, cupvaPadModeType_t, value */
    CUPVA_SIM_ROI = 20, /* x, y, width, height */
    CUPVA_SIM_SCAN_ORDER = 21,
    CUPVA_SIM_TRANS_MODE = 22, /* cupvaTransModeType_t */
    CUPVA_SIM_TRANSFER_MODE = 23, /* cupvaTransferModeType_t */
    CUPVA_SIM_TILES_PER_TRIGGER = 24,
    CUPVA_SIM_EXTERNAL = 25, /* width, height, line pitch of what is gathered from or scattered to */
    CUPVA_SIM_NODES = 26 /* of a lane, lanes */
} cupvaSimProperty_t;

DLL_EXPORT cupvaError_t CupvaSimDataFlowSet(cupvaDataFlow_t dataFlow, cupvaSimProperty_t property,
                                            int64_t const *values, int32_t count);
DLL_EXPORT cupvaError_t CupvaSimDataFlowSetHandler(cupvaDataFlow_t dataFlow,
                                                   cupvaParameter_t const *handler);
/* A node of a DynamicDataFlow: it takes what a StaticDataFlow takes, without dimensions. */
DLL_EXPORT cupvaError_t CupvaSimDynamicNode(cupvaDataFlow_t dataFlow, int32_t nodeId, int32_t laneId,
                                            cupvaDataFlow_t *node);
/* A dataflow of no program, to be copied from. */
DLL_EXPORT cupvaError_t CupvaSimDataFlowCreate(cupvaDataFlow_t *dataFlow, cupvaDataFlowType_t type);
DLL_EXPORT cupvaError_t CupvaSimDataFlowDestroy(cupvaDataFlow_t dataFlow);
DLL_EXPORT cupvaError_t CupvaSimDataFlowCopy(cupvaDataFlow_t dataFlow, cupvaDataFlow_t source);

/* A transfer of a SequenceDataFlow; it takes the properties of a StaticDataFlow. */
DLL_EXPORT cupvaError_t CupvaSimSequenceAddTransfer(cupvaDataFlow_t dataFlow,
                                                    cupvaDataFlow_t *transfer);

#ifdef __cplusplus
}
#endif

#endif
