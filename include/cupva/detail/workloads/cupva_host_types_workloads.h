/*
 * cupva_host_types_workloads.h - what programs and dataflows are made of.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_TYPES_WORKLOADS_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_TYPES_WORKLOADS_H

#include "../cupva_host_types_detail.h"
#include "../scheduling/cupva_host_types_scheduling.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUPVA_MAX_SYMBOL_LENGTH 64
#define CUPVA_MAX_TOTAL_PARAM_SIZE 8192
#define CUPVA_SURFACE_ATTRIBUTES_MAX_NUM_PLANES 6

typedef float float32_t;

typedef struct cupvaExecutableRec *cupvaExecutable_t;
typedef struct cupvaDataFlowRec *cupvaDataFlow_t;

/* A variable of a program's executable. */
typedef struct {
    uint64_t data[2];
} cupvaParameter_t;

/* A pointer that may be bound anew between submissions. */
typedef struct {
    uint64_t data[4];
} cupvaOffsetPointer_t;

typedef enum {
    CUPVA_DATAFLOW_TYPE_INVALID = 0,
    CUPVA_STATIC_DATAFLOW = 1,
    CUPVA_CONFIG_DATAFLOW = 2,
    CUPVA_DYNAMIC_DATAFLOW = 3,
    CUPVA_RASTER_DATAFLOW = 4,
    CUPVA_SEQUENCE_DATAFLOW = 5,
    CUPVA_GATHER_SCATTER_DATAFLOW = 6,
    CUPVA_TENSOR_DATAFLOW = 7,
    CUPVA_DATAFLOW_TYPE_MAX = 8
} cupvaDataFlowType_t;

/* How much one trigger moves. */
typedef enum {
    CUPVA_GRAN_TYPE_INVALID = 0,
    CUPVA_TILE = 1,
    CUPVA_DIM1 = 2,
    CUPVA_DIM2 = 3,
    CUPVA_ALL = 4,
    CUPVA_GRAN_TYPE_MAX = 5
} cupvaGranType_t;

typedef enum {
    CUPVA_PAD_MODE_INVALID = 0,
    CUPVA_PAD_CONST = 1,
    CUPVA_PAD_BPE = 2, /* the nearest real pixel */
    CUPVA_PAD_MODE_MAX = 3
} cupvaPadModeType_t;

typedef enum {
    CUPVA_PAD_DIR_INVALID = 0,
    CUPVA_PAD_NONE = 1,
    CUPVA_PAD_TOP = 2,
    CUPVA_PAD_BOTTOM = 3,
    CUPVA_PAD_LEFT = 4,
    CUPVA_PAD_TOP_LEFT = 5,
    CUPVA_PAD_BOTTOM_LEFT = 6,
    CUPVA_PAD_RIGHT = 7,
    CUPVA_PAD_TOP_RIGHT = 8,
    CUPVA_PAD_BOTTOM_RIGHT = 9,
    CUPVA_PAD_DIR_MAX = 10
} cupvaPadDirType_t;

/* Steps at which a SequenceDataFlow waits for the VPU. */
typedef enum {
    CUPVA_TRANSFER_MODE_INVALID = 0,
    CUPVA_TRANSFER_MODE_CONTINUOUS = 1,
    CUPVA_TRANSFER_MODE_TILE = 2,
    CUPVA_TRANSFER_MODE_DIM1 = 3,
    CUPVA_TRANSFER_MODE_DIM2 = 4,
    CUPVA_TRANSFER_MODE_DIM3 = 5,
    CUPVA_TRANSFER_MODE_MAX = 6
} cupvaTransferModeType_t;

typedef enum {
    CUPVA_TRANS_MODE_NONE = 0,
    CUPVA_TRANS_MODE_1 = 1,
    CUPVA_TRANS_MODE_2 = 2,
    CUPVA_TRANS_MODE_4 = 3,
    CUPVA_TRANS_MODE_8 = 4,
    CUPVA_TRANS_MODE_16 = 5,
    CUPVA_TRANS_MODE_32 = 6,
    CUPVA_TRANS_MODE_MAX = 7
} cupvaTransModeType_t;

typedef enum {
    CUPVA_BUFFER_TYPE_INVALID = 0,
    CUPVA_RAW = 1,
    CUPVA_SURFACE = 2,
    CUPVA_BUFFER_TYPE_MAX = 3
} cupvaBufferType_t;

typedef enum {
    CUPVA_MEM_TYPE_INVALID = 0,
    CUPVA_MEM_DRAM = 1,
    CUPVA_MEM_L2SRAM = 2,
    CUPVA_MEM_VMEM = 3,
    CUPVA_MEM_TYPE_MAX = 4
} cupvaMemType_t;

typedef enum {
    CUPVA_SURFACE_FORMAT_INVALID = 0,
    CUPVA_PITCH_LINEAR = 1,
    CUPVA_BLOCK_LINEAR = 2,
    CUPVA_SURFACE_FORMAT_MAX = 3
} cupvaSurfaceFormatType_t;

typedef struct {
    int64_t offset; /* bytes */
    int32_t linePitch; /* bytes */
    int32_t widthInBytes;
    int32_t height;
} cupvaPlaneInfo_t;

typedef struct {
    cupvaSurfaceFormatType_t format;
    int32_t numPlanes;
    cupvaPlaneInfo_t planes[CUPVA_SURFACE_ATTRIBUTES_MAX_NUM_PLANES];
} cupvaSurfaceAttributes_t;

typedef struct {
    void *devicePtr; /* base of the allocation */
    void *hostPtr; /* NULL when the host cannot see it */
    int64_t size; /* bytes */
    int64_t offset; /* of the pointer that was asked about */
    cupvaMemType_t memType;
    cupvaBufferType_t bufferType;
} cupvaPointerAttributes_t;

/* In all of these: sizes in pixels unless they say bytes; of ptrX and opX exactly one is set. */
typedef struct {
    cupvaParameter_t *handler;
    cupvaGranType_t GranularityType;
    int32_t tileWidth;
    int32_t tileHeight;
    int32_t bpp; /* bytes of a pixel */
    cupvaPadModeType_t padMode;
    int32_t padVal;
    cupvaPadDirType_t padDir;
    int32_t padDim;
    const void *ptrSrc;
    cupvaOffsetPointer_t *opSrc;
    int32_t linePitchSrc;
    int32_t cbStartSrc;
    int32_t cbLenSrc;
    int32_t niterSrcDim1;
    int32_t advSrcDim1;
    int32_t niterSrcDim2;
    int32_t advSrcDim2;
    int32_t niterSrcDim3;
    int32_t advSrcDim3;
    void *ptrDst;
    cupvaOffsetPointer_t *opDst;
    void *ptrDst2;
    cupvaOffsetPointer_t *opDst2;
    int32_t linePitchDst;
    int32_t cbStartDst;
    int32_t cbLenDst;
    int32_t niterDstDim1;
    int32_t advDstDim1;
    int32_t niterDstDim2;
    int32_t advDstDim2;
    int32_t niterDstDim3;
    int32_t advDstDim3;
} cupvaStaticDataFlowParams_t;

typedef struct {
    cupvaParameter_t *handler;
    int32_t roiX;
    int32_t roiY;
    int32_t roiWidth; /* 0: all */
    int32_t roiHeight; /* 0: all */
    int32_t tileWidth;
    int32_t tileHeight;
    uint32_t scanOrder;
    int32_t bpp;
    int32_t haloX;
    int32_t haloY;
    cupvaPadModeType_t padMode;
    int32_t padVal;
    const void *ptrSrc;
    cupvaOffsetPointer_t *opSrc;
    void *ptrDst;
    cupvaOffsetPointer_t *opDst;
    int32_t width; /* of the image that ptrSrc or ptrDst points to */
    int32_t height;
    int32_t linePitch;
    void *ptrTileBuffer;
    cupvaTransModeType_t transMode;
} cupvaRasterDataFlowParams_t;

typedef struct {
    cupvaParameter_t *handler;
    int32_t roiX;
    int32_t roiY;
    int32_t roiWidth; /* 0: all */
    int32_t roiHeight; /* 0: all */
    int32_t tileWidth;
    int32_t tileHeight;
    int32_t tileDepth; /* 0: all */
    int32_t bpp;
    int32_t haloX;
    int32_t haloY;
    cupvaPadModeType_t padMode;
    int32_t padVal;
    const void *ptrSrc;
    cupvaOffsetPointer_t *opSrc;
    void *ptrDst;
    cupvaOffsetPointer_t *opDst;
    int32_t width;
    int32_t height;
    int32_t depth;
    int32_t rowStride; /* 0: width */
    int32_t depthStride; /* 0: rowStride * height */
    void *ptrTileBuffer;
} cupvaTensorDataFlowParams_t;

typedef struct {
    cupvaParameter_t *handler;
} cupvaSequenceDataFlowParams_t;

typedef struct {
    cupvaTransferModeType_t transferMode;
    int32_t tileWidth; /* bytes, or pixels of bpp bytes */
    int32_t tileHeight;
    const void *ptrSrc;
    cupvaOffsetPointer_t *opSrc;
    int32_t linePitchSrc;
    int32_t niterSrcDim1;
    int32_t advSrcDim1;
    int32_t niterSrcDim2;
    int32_t advSrcDim2;
    int32_t niterSrcDim3;
    int32_t advSrcDim3;
    void *ptrDst;
    cupvaOffsetPointer_t *opDst;
    int32_t linePitchDst;
    int32_t niterDstDim1;
    int32_t advDstDim1;
    int32_t niterDstDim2;
    int32_t advDstDim2;
    int32_t niterDstDim3;
    int32_t advDstDim3;
    int32_t bpp; /* 0 means 1 */
} cupvaSequenceDataFlowTransferParams_t;

typedef struct {
    cupvaParameter_t *handler;
    int32_t numTilesPerTrigger; /* 1 to 32 */
    cupvaBufferType_t bufferType;
    const void *ptrSrc;
    cupvaOffsetPointer_t *opSrc;
    void *ptrDst;
    cupvaOffsetPointer_t *opDst;
    int32_t bpp;
    int32_t extWidth;
    int32_t extHeight;
    int32_t extLinePitch;
    int32_t tileWidth;
    int32_t tileHeight;
    cupvaPadModeType_t padMode;
    int32_t padVal;
} cupvaGatherScatterDataFlowParams_t;

/* nodeCount * laneCount tiles with one trigger. */
typedef struct {
    cupvaParameter_t *handler;
    int32_t nodeCount; /* of a lane: 1 to 4 */
    int32_t laneCount; /* 1 to 8 */
} cupvaDynamicDataFlowParams_t;

typedef struct {
    int32_t tileWidth;
    int32_t tileHeight;
    int32_t bpp;
    cupvaPadModeType_t padMode;
    int32_t padVal;
    cupvaPadDirType_t padDir;
    int32_t padDim;
    const void *ptrSrc;
    cupvaOffsetPointer_t *opSrc;
    int32_t linePitchSrc;
    void *ptrDst;
    cupvaOffsetPointer_t *opDst;
    int32_t linePitchDst;
} cupvaNodeParams_t;

typedef struct {
    cupvaParameter_t *handler;
    uint32_t *vpuConfigTable; /* device pointer to the table in VMEM */
} cupvaConfigDataFlowParams_t;

typedef struct {
    const void *ptrSrc;
    cupvaOffsetPointer_t *opSrc;
    void *ptrDst;
    cupvaOffsetPointer_t *opDst;
} cupvaCmdMemcpyBufferParams_t;

#ifdef __cplusplus
}
#endif

#endif
