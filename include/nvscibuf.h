/* SPDX-License-Identifier: Apache-2.0
 *
 * nvscibuf.h - buffers that several engines share.
 *
 * Every user of a buffer writes its wishes into an attribute list; lists are reconciled into one, and
 * from that a buffer object is allocated. One header serves both public generations of the library
 * (2.7 and 2.11): it has the enumerators and functions of the newer one.
 *
 * Unless a comment says otherwise, functions answer NvSciError_Success, NvSciError_BadParameter for a
 * NULL pointer, a handle that is not alive or a value out of range, and
 * NvSciError_InsufficientMemory when memory runs out. Freeing NULL is harmless.
 */
#ifndef INCLUDED_NVSCIBUF_H
#define INCLUDED_NVSCIBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__cplusplus)
/* Published C++ programs call memset and memcpy after including nothing but these headers. */
#include <cstring>
#endif

#include "nvscierror.h"
#include "nvsciipc.h"

#if defined(CUDLA_SIM_PARSE) || !defined(__GNUC__)
#define NVSCIBUF_PACKED
#else
#define NVSCIBUF_PACKED __attribute__((packed))
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Version and limits ---------------------------------------------------------------------- */

/* Variables for a compiler, plain numbers for the generator of our bindings. */
#if defined(CUDLA_SIM_PARSE)
#define NvSciBufMajorVersion 2U
#define NvSciBufMinorVersion 11U
#else
static const uint32_t NvSciBufMajorVersion = 2U;
static const uint32_t NvSciBufMinorVersion = 11U;
#endif

/* Typed constants in C++, macros in C, where a constant variable could not size an array. */
#if defined(__cplusplus)
static const int NV_SCI_BUF_TENSOR_MAX_DIMS = 8;
static const int NV_SCI_BUF_IMAGE_MAX_PLANES = 3;
static const int NV_SCI_BUF_PYRAMID_MAX_LEVELS = 10;
static const int NVSCIBUF_EXPORT_DESC_SIZE = 32;
static const int NV_SCI_BUF_PEER_HW_ENGINE_MAX_NUMBER = 128;
static const uint32_t NV_SCI_BUF_PEER_INFO_MAX_NUMBER = 128U;
static const uint32_t NV_SCI_BUF_PEER_INFO_SELF_SOCID = 0xFFFFFFFFU;
static const uint32_t NV_SCI_BUF_PEER_INFO_SELF_VMID = 0xFFFFFFFFU;
static const uint32_t NV_SCI_BUF_MAX_GPUS = 16U;
#else
#define NV_SCI_BUF_TENSOR_MAX_DIMS 8U
#define NV_SCI_BUF_IMAGE_MAX_PLANES 3U
#define NV_SCI_BUF_PYRAMID_MAX_LEVELS 10U
#define NVSCIBUF_EXPORT_DESC_SIZE 32U
#define NV_SCI_BUF_PEER_HW_ENGINE_MAX_NUMBER 128U
#define NV_SCI_BUF_PEER_INFO_MAX_NUMBER 128U
#define NV_SCI_BUF_PEER_INFO_SELF_SOCID 0xFFFFFFFFU
#define NV_SCI_BUF_PEER_INFO_SELF_VMID 0xFFFFFFFFU
#define NV_SCI_BUF_MAX_GPUS 16
#endif

/* ---- Attribute keys: the buffer's type in the upper half, a running number in the lower --------- */

typedef enum {
    NvSciBufType_General = 0,
    NvSciBufType_RawBuffer = 1,
    NvSciBufType_Image = 2,
    NvSciBufType_Tensor = 3,
    NvSciBufType_Array = 4,
    NvSciBufType_Pyramid = 5,
    NvSciBufType_MaxValid = 6,
    NvSciBufType_UpperBound = 6
} NvSciBufType;

/* After each key: the type of its value; [] = one per plane, dimension or level; (out) = answered by
 * reconciliation, not settable. */
typedef enum {
    NvSciBufAttrKey_LowerBound = 0x00000,
    NvSciBufGeneralAttrKey_Types = 0x00001,                   /* NvSciBufType[] */
    NvSciBufGeneralAttrKey_NeedCpuAccess = 0x00002,           /* bool */
    NvSciBufGeneralAttrKey_RequiredPerm = 0x00003,            /* NvSciBufAttrValAccessPerm */
    NvSciBufGeneralAttrKey_EnableCpuCache = 0x00004,          /* bool */
    NvSciBufGeneralAttrKey_GpuId = 0x00005,                   /* NvSciRmGpuId[] */
    NvSciBufGeneralAttrKey_CpuNeedSwCacheCoherency = 0x00006, /* bool (out) */
    NvSciBufGeneralAttrKey_ActualPerm = 0x00007,              /* NvSciBufAttrValAccessPerm (out) */
    NvSciBufGeneralAttrKey_VidMem_GpuId = 0x00008,            /* NvSciRmGpuId */
    NvSciBufGeneralAttrKey_EnableGpuCache = 0x00009,          /* NvSciBufAttrValGpuCache[] */
    NvSciBufGeneralAttrKey_GpuSwNeedCacheCoherency = 0x0000A, /* NvSciBufAttrValGpuCache[] (out) */
    NvSciBufGeneralAttrKey_EnableGpuCompression = 0x0000B,    /* NvSciBufAttrValGpuCompression[] */
    NvSciBufGeneralAttrKey_PeerLocationInfo = 0x0000C,        /* NvSciBufPeerLocationInfo[] */
    NvSciBufGeneralAttrKey_PeerHwEngineArray = 0x0000D,       /* NvSciBufPeerHwEngine[] */

    NvSciBufRawBufferAttrKey_Size = 0x10000,  /* uint64_t, bytes */
    NvSciBufRawBufferAttrKey_Align = 0x10001, /* uint64_t, a power of two */

    NvSciBufImageAttrKey_Layout = 0x20000,                 /* NvSciBufAttrValImageLayoutType */
    NvSciBufImageAttrKey_TopPadding = 0x20001,             /* uint64_t[] */
    NvSciBufImageAttrKey_BottomPadding = 0x20002,          /* uint64_t[] */
    NvSciBufImageAttrKey_LeftPadding = 0x20003,            /* uint64_t[] */
    NvSciBufImageAttrKey_RightPadding = 0x20004,           /* uint64_t[] */
    NvSciBufImageAttrKey_VprFlag = 0x20005,                /* bool */
    NvSciBufImageAttrKey_Size = 0x20006,                   /* uint64_t (out) */
    NvSciBufImageAttrKey_Alignment = 0x20007,              /* uint64_t (out) */
    NvSciBufImageAttrKey_PlaneCount = 0x20008,             /* uint32_t */
    NvSciBufImageAttrKey_PlaneColorFormat = 0x20009,       /* NvSciBufAttrValColorFmt[] */
    NvSciBufImageAttrKey_PlaneColorStd = 0x2000A,          /* NvSciBufAttrValColorStd[] */
    NvSciBufImageAttrKey_PlaneBaseAddrAlign = 0x2000B,     /* uint32_t[] */
    NvSciBufImageAttrKey_PlaneWidth = 0x2000C,             /* uint32_t[] */
    NvSciBufImageAttrKey_PlaneHeight = 0x2000D,            /* uint32_t[] */
    NvSciBufImageAttrKey_PlaneScanType = 0x2000E,          /* NvSciBufAttrValImageScanType */
    NvSciBufImageAttrKey_ScanType = 0x2000E,               /* older name of the same */
    NvSciBufImageAttrKey_PlaneBitsPerPixel = 0x2000F,      /* uint32_t[] (out) */
    NvSciBufImageAttrKey_PlaneOffset = 0x20010,            /* uint64_t[] (out) */
    NvSciBufImageAttrKey_PlaneDatatype = 0x20011,          /* NvSciBufAttrValDataType[] (out) */
    NvSciBufImageAttrKey_PlaneChannelCount = 0x20012,      /* uint8_t[] (out) */
    NvSciBufImageAttrKey_PlaneSecondFieldOffset = 0x20013, /* uint64_t[] (out) */
    NvSciBufImageAttrKey_PlanePitch = 0x20014,             /* uint32_t[] (out) */
    NvSciBufImageAttrKey_PlaneAlignedHeight = 0x20015,     /* uint32_t[] (out) */
    NvSciBufImageAttrKey_PlaneAlignedSize = 0x20016,       /* uint64_t[] (out) */
    NvSciBufImageAttrKey_ImageCount = 0x20017,             /* uint64_t */
    NvSciBufImageAttrKey_SurfType = 0x20018,               /* NvSciBufSurfType */
    NvSciBufImageAttrKey_SurfMemLayout = 0x20019,          /* NvSciBufSurfMemLayout */
    NvSciBufImageAttrKey_SurfSampleType = 0x2001A,         /* NvSciBufSurfSampleType */
    NvSciBufImageAttrKey_SurfBPC = 0x2001B,                /* NvSciBufSurfBPC */
    NvSciBufImageAttrKey_SurfComponentOrder = 0x2001C,     /* NvSciBufSurfComponentOrder */
    NvSciBufImageAttrKey_SurfWidthBase = 0x2001D,          /* uint32_t */
    NvSciBufImageAttrKey_SurfHeightBase = 0x2001E,         /* uint32_t */
    NvSciBufImageAttrKey_SurfColorStd = 0x2001F,           /* NvSciBufAttrValColorStd */

    NvSciBufTensorAttrKey_DataType = 0x30000,        /* NvSciBufAttrValDataType */
    NvSciBufTensorAttrKey_NumDims = 0x30001,         /* uint32_t */
    NvSciBufTensorAttrKey_SizePerDim = 0x30002,      /* uint64_t[] */
    NvSciBufTensorAttrKey_AlignmentPerDim = 0x30003, /* uint32_t[], powers of two */
    NvSciBufTensorAttrKey_StridesPerDim = 0x30004,   /* uint64_t[] (out) */
    NvSciBufTensorAttrKey_PixelFormat = 0x30005,     /* NvSciBufAttrValColorFmt */
    NvSciBufTensorAttrKey_BaseAddrAlign = 0x30006,   /* uint64_t, a power of two */
    NvSciBufTensorAttrKey_Size = 0x30007,            /* uint64_t (out) */

    NvSciBufArrayAttrKey_DataType = 0x40000,  /* NvSciBufAttrValDataType */
    NvSciBufArrayAttrKey_Stride = 0x40001,    /* uint64_t */
    NvSciBufArrayAttrKey_Capacity = 0x40002,  /* uint64_t */
    NvSciBufArrayAttrKey_Size = 0x40003,      /* uint64_t (out) */
    NvSciBufArrayAttrKey_Alignment = 0x40004, /* uint64_t (out) */

    NvSciBufPyramidAttrKey_NumLevels = 0x50000,   /* uint32_t */
    NvSciBufPyramidAttrKey_Scale = 0x50001,       /* float */
    NvSciBufPyramidAttrKey_LevelOffset = 0x50002, /* uint64_t[] (out) */
    NvSciBufPyramidAttrKey_LevelSize = 0x50003,   /* uint64_t[] (out) */
    NvSciBufPyramidAttrKey_Alignment = 0x50004,   /* uint64_t (out) */

    NvSciBufAttrKey_UpperBound = 0x3ffffff
} NvSciBufAttrKey;

/* ---- Attribute values -------------------------------------------------------------------------- */

typedef enum {
    NvSciBufAccessPerm_Readonly = 1,
    NvSciBufAccessPerm_ReadWrite = 3,
    NvSciBufAccessPerm_Auto = 4, /* for export and import only */
    NvSciBufAccessPerm_Invalid = 5
} NvSciBufAttrValAccessPerm;

typedef enum {
    NvSciDataType_Int4 = 0,
    NvSciDataType_Uint4 = 1,
    NvSciDataType_Int8 = 2,
    NvSciDataType_Uint8 = 3,
    NvSciDataType_Int16 = 4,
    NvSciDataType_Uint16 = 5,
    NvSciDataType_Int32 = 6,
    NvSciDataType_Uint32 = 7,
    NvSciDataType_Float16 = 8,
    NvSciDataType_Float32 = 9,
    NvSciDataType_FloatISP = 10,
    NvSciDataType_Bool = 11,
    NvSciDataType_UpperBound = 12
} NvSciBufAttrValDataType;

typedef enum {
    NvSciBufImage_BlockLinearType = 0,
    NvSciBufImage_PitchLinearType = 1
} NvSciBufAttrValImageLayoutType;

typedef enum {
    NvSciBufScan_ProgressiveType = 0,
    NvSciBufScan_InterlaceType = 1
} NvSciBufAttrValImageScanType;

typedef enum {
    NvSciBufCompressionType_None = 0,
    NvSciBufCompressionType_GenericCompressible = 1
} NvSciBufCompressionType;

/* Whole surfaces. MaxValid is one past the last value, so it moves from one version to the next. */
typedef enum {
    NvSciSurfType_YUV = 0,
    NvSciSurfType_RGBA = 1,
    NvSciSurfType_RAW = 2,
    NvSciSurfType_MaxValid = 3
} NvSciBufSurfType;

typedef enum {
    NvSciSurfMemLayout_Packed = 0,
    NvSciSurfMemLayout_SemiPlanar = 1,
    NvSciSurfMemLayout_Planar = 2,
    NvSciSurfMemLayout_MaxValid = 3
} NvSciBufSurfMemLayout;

typedef enum {
    NvSciSurfSampleType_420 = 0,
    NvSciSurfSampleType_422 = 1,
    NvSciSurfSampleType_444 = 2,
    NvSciSurfSampleType_422R = 3,
    NvSciSurfSampleType_400 = 4, /* 2.11 */
    NvSciSurfSampleType_MaxValid = 5
} NvSciBufSurfSampleType;

typedef enum {
    NvSciSurfBPC_Layout_16_8_8 = 0,
    NvSciSurfBPC_Layout_10_8_8 = 1,
    NvSciSurfBPC_8 = 2,
    NvSciSurfBPC_10 = 3,
    NvSciSurfBPC_12 = 4,
    NvSciSurfBPC_14 = 5,
    NvSciSurfBPC_16 = 6,
    NvSciSurfBPC_MaxValid = 7
} NvSciBufSurfBPC;

typedef enum {
    NvSciSurfComponentOrder_YUV = 0,
    NvSciSurfComponentOrder_YVU = 1,
    NvSciSurfComponentOrder_Luma = 2, /* 2.11 */
    NvSciSurfComponentOrder_MaxValid = 3
} NvSciBufSurfComponentOrder;

typedef enum {
    NvSciColorStd_SRGB = 0,
    NvSciColorStd_REC601_SR = 1,
    NvSciColorStd_REC601_ER = 2,
    NvSciColorStd_REC709_SR = 3,
    NvSciColorStd_REC709_ER = 4,
    NvSciColorStd_REC2020_RGB = 5,
    NvSciColorStd_REC2020_SR = 6,
    NvSciColorStd_REC2020_ER = 7,
    NvSciColorStd_YcCbcCrc_SR = 8,
    NvSciColorStd_YcCbcCrc_ER = 9,
    NvSciColorStd_SENSOR_RGBA = 10,
    NvSciColorStd_REQ2020PQ_ER = 11
} NvSciBufAttrValColorStd;

/* Letters run from the high bits to the low ones; X = unused bits, C = a clear pixel, I = infrared. */
typedef enum {
    NvSciColor_LowerBound = 0,
    /* Bayer mosaics of 8 and 16 bits. */
    NvSciColor_Bayer8RGGB = 1,
    NvSciColor_Bayer8CCCC = 2,
    NvSciColor_Bayer8BGGR = 3,
    NvSciColor_Bayer8GBRG = 4,
    NvSciColor_Bayer8GRBG = 5,
    NvSciColor_Bayer16BGGR = 6,
    NvSciColor_Bayer16CCCC = 7,
    NvSciColor_Bayer16GBRG = 8,
    NvSciColor_Bayer16GRBG = 9,
    NvSciColor_Bayer16RGGB = 10,
    NvSciColor_Bayer16RCCB = 11,
    NvSciColor_Bayer16BCCR = 12,
    NvSciColor_Bayer16CRBC = 13,
    NvSciColor_Bayer16CBRC = 14,
    NvSciColor_Bayer16RCCC = 15,
    NvSciColor_Bayer16CCCR = 16,
    NvSciColor_Bayer16CRCC = 17,
    NvSciColor_Bayer16CCRC = 18,
    /* Bayer mosaics of 10, 12 and 14 bits in words of 16. */
    NvSciColor_X2Bayer14GBRG = 19,
    NvSciColor_X4Bayer12GBRG = 20,
    NvSciColor_X6Bayer10GBRG = 21,
    NvSciColor_X2Bayer14GRBG = 22,
    NvSciColor_X4Bayer12GRBG = 23,
    NvSciColor_X6Bayer10GRBG = 24,
    NvSciColor_X2Bayer14BGGR = 25,
    NvSciColor_X4Bayer12BGGR = 26,
    NvSciColor_X6Bayer10BGGR = 27,
    NvSciColor_X2Bayer14RGGB = 28,
    NvSciColor_X4Bayer12RGGB = 29,
    NvSciColor_X6Bayer10RGGB = 30,
    NvSciColor_X2Bayer14CCCC = 31,
    NvSciColor_X4Bayer12CCCC = 32,
    NvSciColor_X6Bayer10CCCC = 33,
    NvSciColor_X4Bayer12RCCB = 34,
    NvSciColor_X4Bayer12BCCR = 35,
    NvSciColor_X4Bayer12CRBC = 36,
    NvSciColor_X4Bayer12CBRC = 37,
    NvSciColor_X4Bayer12RCCC = 38,
    NvSciColor_X4Bayer12CCCR = 39,
    NvSciColor_X4Bayer12CRCC = 40,
    NvSciColor_X4Bayer12CCRC = 41,
    /* The same, signed. */
    NvSciColor_Signed_X2Bayer14CCCC = 42,
    NvSciColor_Signed_X4Bayer12CCCC = 43,
    NvSciColor_Signed_X6Bayer10CCCC = 44,
    NvSciColor_Signed_Bayer16CCCC = 45,
    /* Bayer mosaics in the image processor's own float format. */
    NvSciColor_FloatISP_Bayer16CCCC = 46,
    NvSciColor_FloatISP_Bayer16RGGB = 47,
    NvSciColor_FloatISP_Bayer16BGGR = 48,
    NvSciColor_FloatISP_Bayer16GRBG = 49,
    NvSciColor_FloatISP_Bayer16GBRG = 50,
    NvSciColor_FloatISP_Bayer16RCCB = 51,
    NvSciColor_FloatISP_Bayer16BCCR = 52,
    NvSciColor_FloatISP_Bayer16CRBC = 53,
    NvSciColor_FloatISP_Bayer16CBRC = 54,
    NvSciColor_FloatISP_Bayer16RCCC = 55,
    NvSciColor_FloatISP_Bayer16CCCR = 56,
    NvSciColor_FloatISP_Bayer16CRCC = 57,
    NvSciColor_FloatISP_Bayer16CCRC = 58,
    /* Bayer mosaics of 20 bits in words of 32. */
    NvSciColor_X12Bayer20CCCC = 59,
    NvSciColor_X12Bayer20BGGR = 60,
    NvSciColor_X12Bayer20RGGB = 61,
    NvSciColor_X12Bayer20GRBG = 62,
    NvSciColor_X12Bayer20GBRG = 63,
    NvSciColor_X12Bayer20RCCB = 64,
    NvSciColor_X12Bayer20BCCR = 65,
    NvSciColor_X12Bayer20CRBC = 66,
    NvSciColor_X12Bayer20CBRC = 67,
    NvSciColor_X12Bayer20RCCC = 68,
    NvSciColor_X12Bayer20CCCR = 69,
    NvSciColor_X12Bayer20CRCC = 70,
    NvSciColor_X12Bayer20CCRC = 71,
    NvSciColor_Signed_X12Bayer20CCCC = 72,
    NvSciColor_Signed_X12Bayer20GBRG = 73,
    /* Interleaved chrominance planes. */
    NvSciColor_U8V8 = 74,
    NvSciColor_U8_V8 = 75,
    NvSciColor_V8U8 = 76,
    NvSciColor_V8_U8 = 77,
    NvSciColor_U10V10 = 78,
    NvSciColor_V10U10 = 79,
    NvSciColor_U12V12 = 80,
    NvSciColor_V12U12 = 81,
    NvSciColor_U16V16 = 82,
    NvSciColor_V16U16 = 83,
    /* Single luminance or chrominance planes. */
    NvSciColor_Y8 = 84,
    NvSciColor_Y10 = 85,
    NvSciColor_Y12 = 86,
    NvSciColor_Y16 = 87,
    NvSciColor_U8 = 88,
    NvSciColor_V8 = 89,
    NvSciColor_U10 = 90,
    NvSciColor_V10 = 91,
    NvSciColor_U12 = 92,
    NvSciColor_V12 = 93,
    NvSciColor_U16 = 94,
    NvSciColor_V16 = 95,
    /* Packed luminance and chrominance. */
    NvSciColor_A8Y8U8V8 = 96,
    NvSciColor_Y8U8Y8V8 = 97,
    NvSciColor_Y8V8Y8U8 = 98,
    NvSciColor_U8Y8V8Y8 = 99,
    NvSciColor_V8Y8U8Y8 = 100,
    NvSciColor_A16Y16U16V16 = 101,
    /* Packed colour, alpha and plain values. */
    NvSciColor_A8 = 102,
    NvSciColor_Signed_A8 = 103,
    NvSciColor_B8G8R8A8 = 104,
    NvSciColor_A8R8G8B8 = 105,
    NvSciColor_A8B8G8R8 = 106,
    NvSciColor_A2R10G10B10 = 107,
    NvSciColor_A16 = 108,
    NvSciColor_Signed_A16 = 109,
    NvSciColor_Signed_R16G16 = 110,
    NvSciColor_A16B16G16R16 = 111,
    NvSciColor_Signed_A16B16G16R16 = 112,
    NvSciColor_Float_A16B16G16R16 = 113,
    NvSciColor_A32 = 114,
    NvSciColor_Signed_A32 = 115,
    NvSciColor_Float_A16 = 116,
    /* Mosaics with infrared pixels, 10 bits. */
    NvSciColor_X6Bayer10BGGI_RGGI = 117,
    NvSciColor_X6Bayer10GBIG_GRIG = 118,
    NvSciColor_X6Bayer10GIBG_GIRG = 119,
    NvSciColor_X6Bayer10IGGB_IGGR = 120,
    NvSciColor_X6Bayer10RGGI_BGGI = 121,
    NvSciColor_X6Bayer10GRIG_GBIG = 122,
    NvSciColor_X6Bayer10GIRG_GIBG = 123,
    NvSciColor_X6Bayer10IGGR_IGGB = 124,
    /* ... 12 bits. */
    NvSciColor_X4Bayer12BGGI_RGGI = 125,
    NvSciColor_X4Bayer12GBIG_GRIG = 126,
    NvSciColor_X4Bayer12GIBG_GIRG = 127,
    NvSciColor_X4Bayer12IGGB_IGGR = 128,
    NvSciColor_X4Bayer12RGGI_BGGI = 129,
    NvSciColor_X4Bayer12GRIG_GBIG = 130,
    NvSciColor_X4Bayer12GIRG_GIBG = 131,
    NvSciColor_X4Bayer12IGGR_IGGB = 132,
    /* ... 14 bits. */
    NvSciColor_X2Bayer14BGGI_RGGI = 133,
    NvSciColor_X2Bayer14GBIG_GRIG = 134,
    NvSciColor_X2Bayer14GIBG_GIRG = 135,
    NvSciColor_X2Bayer14IGGB_IGGR = 136,
    NvSciColor_X2Bayer14RGGI_BGGI = 137,
    NvSciColor_X2Bayer14GRIG_GBIG = 138,
    NvSciColor_X2Bayer14GIRG_GIBG = 139,
    NvSciColor_X2Bayer14IGGR_IGGB = 140,
    /* ... 16 bits. */
    NvSciColor_Bayer16BGGI_RGGI = 141,
    NvSciColor_Bayer16GBIG_GRIG = 142,
    NvSciColor_Bayer16GIBG_GIRG = 143,
    NvSciColor_Bayer16IGGB_IGGR = 144,
    NvSciColor_Bayer16RGGI_BGGI = 145,
    NvSciColor_Bayer16GRIG_GBIG = 146,
    NvSciColor_Bayer16GIRG_GIBG = 147,
    NvSciColor_Bayer16IGGR_IGGB = 148,
    /* A mosaic whose bits sit at the low end of the word. */
    NvSciColor_X4Bayer12RGGB_RJ = 149,
    /* Single colour planes. */
    NvSciColor_R8 = 150,
    NvSciColor_G8 = 151,
    NvSciColor_B8 = 152,
    NvSciColor_UpperBound = 153
} NvSciBufAttrValColorFmt;

/* Engines that may join later, by name and platform. */
typedef enum {
    NvSciBufHwEngName_Invalid = 0,
    NvSciBufHwEngName_Display = 4,
    NvSciBufHwEngName_Isp = 11,
    NvSciBufHwEngName_Vi = 12,
    NvSciBufHwEngName_Csi = 30,
    NvSciBufHwEngName_Vic = 106,
    NvSciBufHwEngName_Gpu = 107,
    NvSciBufHwEngName_MSENC = 109,
    NvSciBufHwEngName_NVDEC = 117,
    NvSciBufHwEngName_NVJPG = 118,
    NvSciBufHwEngName_PVA = 121,
    NvSciBufHwEngName_DLA = 122,
    NvSciBufHwEngName_PCIe = 123,
    NvSciBufHwEngName_OFA = 124,
    NvSciBufHwEngName_NPM = 125,
    NvSciBufHwEngName_Num = 126
} NvSciBufHwEngName;

typedef enum {
    NvSciBufPlatformName_LowerBound = 0,
    NvSciBufPlatformName_Orin = 1,
    NvSciBufPlatformName_PG189 = 2,
    NvSciBufPlatformName_PG199 = 3,
    NvSciBufPlatformName_UpperBound = 4
} NvSciBufPlatformName;

/* ---- Types ------------------------------------------------------------------------------------- */

typedef struct NvSciBufModuleRec *NvSciBufModule;
typedef struct NvSciBufAttrListRec *NvSciBufAttrList;
typedef struct NvSciBufObjRefRec *NvSciBufObj;
typedef const struct NvSciBufObjRefRec *NvSciBufObjConst;

typedef struct {
    NvSciBufAttrKey key;
    const void *value;
    size_t len; /* bytes */
} NvSciBufAttrKeyValuePair;

typedef struct {
    uint8_t bytes[16]; /* what cuDeviceGetUuid answers */
} NvSciRmGpuId;

typedef struct {
    NvSciRmGpuId gpuId;
    bool cacheability;
} NvSciBufAttrValGpuCache;

typedef struct {
    NvSciRmGpuId gpuId;
    NvSciBufCompressionType compressionType;
} NvSciBufAttrValGpuCompression;

/* Pixels x0 <= x < x1, y0 <= y < y1. */
typedef struct {
    uint64_t x0;
    uint64_t y0;
    uint64_t x1;
    uint64_t y1;
} NvSciBufRect;

typedef struct {
    NvSciBufHwEngName engName;
    NvSciBufPlatformName platName;
} NVSCIBUF_PACKED NvSciBufPeerHwEngine;

typedef struct {
    uint32_t socID;
    uint32_t vmID;
    uint64_t reserved;
} NVSCIBUF_PACKED NvSciBufPeerLocationInfo;

typedef struct {
    uint64_t data[NVSCIBUF_EXPORT_DESC_SIZE];
} NVSCIBUF_PACKED NvSciBufObjIpcExportDescriptor;

/* ---- Module -------------------------------------------------------------------------------------- */

/* Opens the library. Lists and objects made through a module keep it alive after it is closed.
 * Also NvSciError_InsufficientResource. */
NvSciError NvSciBufModuleOpen(NvSciBufModule *newModule);
void NvSciBufModuleClose(NvSciBufModule module);

/* Says whether this library can stand in for version majorVer.minorVer. */
NvSciError NvSciBufCheckVersionCompatibility(uint32_t majorVer, uint32_t minorVer,
                                             bool *isCompatible);

/* ---- Attribute lists ----------------------------------------------------------------------------- */

/* Makes an empty list, or ends one. */
NvSciError NvSciBufAttrListCreate(NvSciBufModule module, NvSciBufAttrList *newAttrList);
void NvSciBufAttrListFree(NvSciBufAttrList attrList);

/* Writes attributes; values are copied. NvSciError_BadParameter also for a key that is set already,
 * occurs twice, may not be written or belongs to a type that is not requested, for a NULL value, a
 * wrong length and a reconciled list; then nothing is written. */
NvSciError NvSciBufAttrListSetAttrs(NvSciBufAttrList attrList, NvSciBufAttrKeyValuePair *pairArray,
                                    size_t pairCount);

/* Reads attributes of slot 0, or of any slot; absent ones answer length 0. The values belong to the
 * list. NvSciError_BadParameter also for a key that this kind of list does not hold. */
NvSciError NvSciBufAttrListGetAttrs(NvSciBufAttrList attrList, NvSciBufAttrKeyValuePair *pairArray,
                                    size_t pairCount);
NvSciError NvSciBufAttrListSlotGetAttrs(NvSciBufAttrList attrList, size_t slotIndex,
                                        NvSciBufAttrKeyValuePair *pairArray, size_t pairCount);

/* Counts the lists that were appended into this one; 0 for a bad handle. */
size_t NvSciBufAttrListGetSlotCount(NvSciBufAttrList attrList);

/* Prints a list into memory of its own, to be released with free(). */
NvSciError NvSciBufAttrListDebugDump(NvSciBufAttrList attrList, void **buf, size_t *len);

/* Copies a list; copies several unreconciled lists into one with a slot for each. */
NvSciError NvSciBufAttrListClone(NvSciBufAttrList origAttrList, NvSciBufAttrList *newAttrList);
NvSciError NvSciBufAttrListAppendUnreconciled(
    const NvSciBufAttrList inputUnreconciledAttrListArray[], size_t inputUnreconciledAttrListCount,
    NvSciBufAttrList *newUnreconciledAttrList);

/* Merges the wishes of all lists. On failure newConflictList may name the culprits, otherwise it is
 * NULL. Also NvSciError_ReconciliationFailed, NvSciError_UnsupportedConfig. */
NvSciError NvSciBufAttrListReconcile(const NvSciBufAttrList inputArray[], size_t inputCount,
                                     NvSciBufAttrList *newReconciledAttrList,
                                     NvSciBufAttrList *newConflictList);
NvSciError NvSciBufAttrListIsReconciled(NvSciBufAttrList attrList, bool *isReconciled);

/* Checks a reconciled list against wishes. Also NvSciError_AttrListValidationFailed. */
NvSciError NvSciBufAttrListValidateReconciled(
    NvSciBufAttrList reconciledAttrList, const NvSciBufAttrList unreconciledAttrListArray[],
    size_t unreconciledAttrListCount, bool *isReconcileListValid);
NvSciError NvSciBufAttrListValidateReconciledAgainstAttrs(const NvSciBufAttrList reconciledAttrList,
                                                          const NvSciBufAttrKeyValuePair *pairArray,
                                                          const size_t pairCount);

/* ---- Objects --------------------------------------------------------------------------------------- */

/* Allocates a buffer from a reconciled list; or reconciles and allocates in one step. */
NvSciError NvSciBufObjAlloc(NvSciBufAttrList reconciledAttrList, NvSciBufObj *bufObj);
NvSciError NvSciBufAttrListReconcileAndObjAlloc(const NvSciBufAttrList attrListArray[],
                                                size_t attrListCount, NvSciBufObj *bufObj,
                                                NvSciBufAttrList *newConflictList);

/* Makes another handle to the same memory, perhaps with fewer rights. The memory goes with its last
 * handle. */
NvSciError NvSciBufObjDup(NvSciBufObj bufObj, NvSciBufObj *dupObj);
NvSciError NvSciBufObjDupWithReducePerm(NvSciBufObj bufObj, NvSciBufAttrValAccessPerm reducedPerm,
                                        NvSciBufObj *newBufObj);
void NvSciBufObjFree(NvSciBufObj bufObj);

/* Answers the object's reconciled list, which stays the object's: do not free it. */
NvSciError NvSciBufObjGetAttrList(NvSciBufObj bufObj, NvSciBufAttrList *bufAttrList);
NvSciError NvSciBufObjGetMaxPerm(const NvSciBufObj bufObj, const NvSciIpcEndpoint ipcEndpoint,
                                 NvSciBufAttrValAccessPerm *accPerm);
NvSciError NvSciBufObjValidate(NvSciBufObj bufObj);
NvSciError NvSciBufObjAttachPeer(NvSciBufObj bufObj, const NvSciBufAttrList inputArray[],
                                 size_t inputCount);

/* Answers the CPU's address of the memory. NvSciError_BadParameter also when CPU access, or for the
 * first one write permission, was not asked for. */
NvSciError NvSciBufObjGetCpuPtr(NvSciBufObj bufObj, void **ptr);
NvSciError NvSciBufObjGetConstCpuPtr(NvSciBufObj bufObj, const void **ptr);
NvSciError NvSciBufObjFlushCpuCacheRange(NvSciBufObj bufObj, uint64_t offset, uint64_t len);

/* Copies pixels of an image, one destination or source per plane; a NULL rectangle is all of it.
 * Sizes and pitches are bytes. */
NvSciError NvSciBufObjGetPixels(NvSciBufObj bufObj, const NvSciBufRect *rect, void **dstPtrs,
                                const uint32_t *dstPtrSizes, const uint32_t *dstPitches);
NvSciError NvSciBufObjPutPixels(NvSciBufObj bufObj, const NvSciBufRect *rect, const void **srcPtrs,
                                const uint32_t *srcPtrSizes, const uint32_t *srcPitches);

/* ---- To and from other processes: NvSciError_NotSupported in this simulator ------------------------- */

NvSciError NvSciBufIpcExportAttrListAndObj(NvSciBufObj bufObj, NvSciBufAttrValAccessPerm permissions,
                                           NvSciIpcEndpoint ipcEndpoint, void **attrListAndObjDesc,
                                           size_t *attrListAndObjDescSize);
NvSciError NvSciBufIpcImportAttrListAndObj(
    NvSciBufModule module, NvSciIpcEndpoint ipcEndpoint, const void *attrListAndObjDesc,
    size_t attrListAndObjDescSize, const NvSciBufAttrList attrList[], size_t count,
    NvSciBufAttrValAccessPerm minPermissions, int64_t timeoutUs, NvSciBufObj *bufObj);
void NvSciBufAttrListAndObjFreeDesc(void *attrListAndObjDescBuf);

NvSciError NvSciBufObjIpcExport(NvSciBufObj bufObj, NvSciBufAttrValAccessPerm accPerm,
                                NvSciIpcEndpoint ipcEndpoint,
                                NvSciBufObjIpcExportDescriptor *exportData);
NvSciError NvSciBufObjIpcImport(NvSciIpcEndpoint ipcEndpoint,
                                const NvSciBufObjIpcExportDescriptor *desc,
                                NvSciBufAttrList reconciledAttrList,
                                NvSciBufAttrValAccessPerm minPermissions, int64_t timeoutUs,
                                NvSciBufObj *bufObj);

NvSciError NvSciBufAttrListIpcExportUnreconciled(
    const NvSciBufAttrList unreconciledAttrListArray[], size_t unreconciledAttrListCount,
    NvSciIpcEndpoint ipcEndpoint, void **descBuf, size_t *descLen);
NvSciError NvSciBufAttrListIpcExportReconciled(NvSciBufAttrList reconciledAttrList,
                                               NvSciIpcEndpoint ipcEndpoint, void **descBuf,
                                               size_t *descLen);
NvSciError NvSciBufAttrListIpcImportUnreconciled(NvSciBufModule module, NvSciIpcEndpoint ipcEndpoint,
                                                 const void *descBuf, size_t descLen,
                                                 NvSciBufAttrList *importedUnreconciledAttrList);
NvSciError NvSciBufAttrListIpcImportReconciled(
    NvSciBufModule module, NvSciIpcEndpoint ipcEndpoint, const void *descBuf, size_t descLen,
    const NvSciBufAttrList inputUnreconciledAttrListArray[], size_t inputUnreconciledAttrListCount,
    NvSciBufAttrList *importedReconciledAttrList);
void NvSciBufAttrListFreeDesc(void *descBuf);

#if defined(__cplusplus)
}
#endif

#endif /* INCLUDED_NVSCIBUF_H */
