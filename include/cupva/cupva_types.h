/* Types and layout macros that host and device share. Valid C and C++. */
#ifndef CUPVA_TYPES_H
#define CUPVA_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Build modes; only native exists here: VPU code runs as a process of this machine. */
#define CUPVA_NATIVE 1
#define CUPVA_SIM 2
#define CUPVA_L4T 3
#define CUPVA_QNX 4
#ifndef CUPVA_BUILD_MODE
#define CUPVA_BUILD_MODE CUPVA_NATIVE
#endif
#ifndef CUPVA_PVA_GEN_NUMBER
#define CUPVA_PVA_GEN_NUMBER 2 /* Orin */
#endif

/* --- tile buffers --- */

#define CIRCULAR_BUFFER_LINE_PITCH_FACTOR0 3
#define CIRCULAR_BUFFER_LINE_PITCH_FACTOR1 5
#define CIRCULAR_BUFFER_EXTRA_BYTES 64
#define CIRCULAR_BUFFER_LINE_PITCH_ALIGNED(pitch) (((pitch) + 1) / 2 * 2)
#define CIRCULAR_BUFFER_ALIGNED_SIZE(bytes) (((bytes) + 63) / 64 * 64)

/* Tiles that are transposed on their way into VMEM: lines are shifted against each other by so many
 * elements that a column can be loaded as a vector. */
typedef enum {
    TRANS_MODE_NONE = 0,
    TRANS_MODE_1 = 1,
    TRANS_MODE_2 = 2,
    TRANS_MODE_4 = 3,
    TRANS_MODE_8 = 4,
    TRANS_MODE_16 = 5,
    TRANS_MODE_32 = 6
} TranspositionMode;

/* Bytes that a line is shifted, and the bytes from one line to the next. */
#define TRANSPOSITION_OFFSET(mode, bpp) \
    (((mode) == 1 && (bpp) == 1) ? 2 : ((mode) == 0 ? 0 : (1 << (((mode) + 31) % 32)) * (bpp)))
#define TRANSPOSITION_LINE_PITCH(bytes, mode, bpp) \
    ((mode) == 0 ? (bytes) \
                 : ((bytes) - TRANSPOSITION_OFFSET(mode, bpp) + 63) / 64 * 64 \
                       + TRANSPOSITION_OFFSET(mode, bpp))

/* --- TensorDataFlow --- */

#define TDF_NUM_SLICES 2

/* What a kernel needs to know of a tensor's tiles; written at launch. */
typedef struct {
    uint32_t tilePlaneSize;             /* pixels of one plane of a tile, halo included */
    uint32_t tileDepth[TDF_NUM_SLICES]; /* planes of a full tile, and of the last one */
    uint32_t niterHW;                   /* tiles in width times tiles in height */
    uint8_t numSlices;                  /* 2 when the last tile in depth is not full */
} TensorDataFlowParams;

/* --- memory outside VMEM --- */

/* Bits 63..56 of an address that a VPU sees: which memory; the rest is a byte offset in it. */
#define CUPVA_IOVA_SPACE_SHIFT 56
#define CUPVA_IOVA_DRAM 0u
#define CUPVA_IOVA_VMEM 1u
#define CUPVA_IOVA_L2SRAM 2u

typedef enum {
    MEM_TYPE_INVALID = 0,
    MEM_TYPE_DRAM = 1,
    MEM_TYPE_VMEM = 2,
    MEM_TYPE_L2SRAM = 3
} cupvaMemType;

/* A pointer into DRAM or L2SRAM as a VPU holds it. */
typedef struct {
    uint64_t base;  /* start of the memory */
    int64_t offset; /* bytes from it */
} ExtMemPointer;

/* As many as a surface has; no document that we know gives the number. */
#define GSDF_MAX_NUM_PLANES 6

/* Planes of a picture, in pixels; offsets from the start of the first plane. */
struct PlanarGeometry {
    uint16_t widths[GSDF_MAX_NUM_PLANES];
    uint16_t heights[GSDF_MAX_NUM_PLANES];
    uint16_t linePitches[GSDF_MAX_NUM_PLANES];
    uint32_t planeOffsets[GSDF_MAX_NUM_PLANES];
    uint8_t numPlanes;
    uint8_t padding[15];
};
#ifndef __cplusplus
typedef struct PlanarGeometry PlanarGeometry;
#endif

/* A surface as a VPU sees it. */
typedef struct {
    ExtMemPointer pointer;
    struct PlanarGeometry geometry;
    uint32_t blockLinear;
} VPUSurfaceData;

/* Where descriptors begin in the DMA's memory, as the tables of ConfigDataFlow name them. */
#define PVA_DMA_DESCRIPTORS_AT 0x4000u

/* --- how a handler variable is filled at launch --- */

typedef struct {
    uint32_t flow;       /* number of the dataflow in this launch, from 1; 0: none attached */
    int32_t layout;      /* 1 single, 2 double, 3 circular */
    int32_t reads;       /* 1: into VMEM, 0: out of it */
    int32_t linePitch;   /* pixels from one line of a tile to the next */
    int32_t bppLog2;     /* 0, 1, 2: pixels of 1, 2, 4 bytes */
    int32_t buffer;      /* VMEM offset of the tile buffer, bytes */
    int32_t tiles;       /* tiles in all */
    int32_t half;        /* double: bytes from the first half to the second */
    int32_t advance;     /* circular: pixels from one tile to the next */
    int32_t ring;        /* circular: pixels after which addresses wrap */
    int32_t planes;      /* tensor: planes of a full tile */
    int32_t niterHW;     /* tensor: tiles in width times tiles in height */
    int32_t niterC;      /* tensor: tiles in depth */
    int32_t planeSize;   /* tensor: pixels of a plane of a tile */
    int32_t remainder;   /* tensor: planes of the last tile in depth, 0 when it is full */
    int32_t bpp;         /* bytes of a pixel */
} cupvaFlowInfo;

#endif
