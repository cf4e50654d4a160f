"""The ABI as published: enumerators, sizes, offsets.

Written from measurements of the vendors' headers, independently of the headers in ``include/``, so
that a slip there does not repeat itself here. x86-64 and aarch64 Linux (LP64).
"""

from __future__ import annotations

from collections.abc import Iterator


def _members(prefix: str, text: str) -> Iterator[tuple[str, int]]:
    """``Name value, Name value``; a name alone counts on from the one before."""
    following = 0
    for item in text.strip().split(","):
        name, *number = item.split()
        value = int(number[0], 0) if number else following
        following = value + 1
        yield prefix + name, value


CUDLA_CONSTANTS = {
    **dict(_members("CUDLA_", "VER_MAJOR 1, VER_MINOR 5, VER_PATCH 0")),
    "CUDLA_LOADABLE_TENSOR_DESC_NUM_STRIDES": 8,
    "CUDLA_RUNTIME_TENSOR_DESC_NAME_MAX_LEN": 80,
    **dict(_members("CUDLA_DATA_FORMAT_", "UNKNOWN 0, NCHW, NHWC, NCxHWx")),
    **dict(_members("CUDLA_DATA_TYPE_", "UNKNOWN 0, FLOAT, HALF, INT16, INT8, UINT8, UINT16")),
    **dict(_members("CUDLA_DATA_CATEGORY_", "IMAGE 0, WEIGHT, FEATURE, PLANAR, BIAS")),
    **dict(_members("CUDLA_PIXEL_MAPPING_", "PITCH_LINEAR 0, BLOCK_LINEAR")),
    **dict(
        _members(
            "CUDLA_PIXEL_FORMAT_",
            """
    R8 0, R10 1, R12 2, R16 3, R16_I 4, R16_F 5, A16B16G16R16 6, X16B16G16R16 7, A16B16G16R16_F
    8, A16Y16U16V16 9, V16U16Y16A16 10, A16Y16U16V16_F 11, A8B8G8R8 12, A8R8G8B8 13, B8G8R8A8
    14, R8G8B8A8 15, X8B8G8R8 16, X8R8G8B8 17, B8G8R8X8 18, R8G8B8X8 19, A2B10G10R10 20,
    A2R10G10B10 21, B10G10R10A2 22, R10G10B10A2 23, A2Y10U10V10 24, V10U10Y10A2 25, A8Y8U8V8 26,
    V8U8Y8A8 27, Y8___U8V8_N444 28, Y8___V8U8_N444 29, Y10___U10V10_N444 30, Y10___V10U10_N444
    31, Y12___U12V12_N444 32, Y12___V12U12_N444 33, Y16___U16V16_N444 34, Y16___V16U16_N444 35,
    FEATURE 36, UNKNOWN 37
            """,
        )
    ),
    **dict(
        _members(
            "cudla",
            """
    Success 0, ErrorInvalidParam 1, ErrorOutOfResources 2, ErrorCreationFailed 3,
    ErrorInvalidAddress 4, ErrorOs 5, ErrorCuda 6, ErrorUmd 7, ErrorInvalidDevice 8,
    ErrorInvalidAttribute 9, ErrorIncompatibleDlaSWVersion 10, ErrorMemoryRegistered 11,
    ErrorInvalidModule 12, ErrorUnsupportedOperation 13, ErrorNvSci 14, ErrorDriverNotFound 15,
    ErrorDlaErrInvalidInput 0x40000001, ErrorDlaErrInvalidPreAction, ErrorDlaErrNoMem,
    ErrorDlaErrProcessorBusy, ErrorDlaErrTaskStatusMismatch, ErrorDlaErrEngineTimeout,
    ErrorDlaErrDataMismatch 0x40000007, ErrorUnknown 0x7fffffff
            """,
        )
    ),
    **dict(
        _members(
            "CUDLA_",
            """
    CUDA_DLA 0, STANDALONE 1,
    SCRATCH_MEMORY_DEFAULT 0, SCRATCH_MEMORY_SHARED_STATIC 2,
    SCRATCH_MEMORY_CONFIG_MAX 0x7FFFFFFF,
    NVSCISYNC_ATTR_WAIT 1, NVSCISYNC_ATTR_SIGNAL 2,
    NUM_INPUT_TENSORS 0, NUM_OUTPUT_TENSORS 1, INPUT_TENSOR_DESCRIPTORS 2,
    OUTPUT_TENSOR_DESCRIPTORS 3, NUM_OUTPUT_TASK_STATISTICS 4,
    OUTPUT_TASK_STATISTICS_DESCRIPTORS 5,
    NVSCISYNC_FENCE 1, NVSCISYNC_FENCE_SOF 2,
    MODULE_DEFAULT 0, MODULE_ENABLE_FAULT_DIAGNOSTICS 1,
    SUBMIT_NOOP 1, SUBMIT_SKIP_LOCK_ACQUIRE 2, SUBMIT_DIAGNOSTICS_TASK 4,
    READ_WRITE_PERM 0, READ_ONLY_PERM 1, TASK_STATISTICS 2,
    UNIFIED_ADDRESSING 0, DEVICE_VERSION 1,
    GET_CSV_LENGTH 0, GET_CSV_STATS 1
            """,
        )
    ),
}

NVSCI_CONSTANTS = {
    **dict(
        _members(
            "NvSciError_",
            """
    Success 0, Unknown 1, NotImplemented 0x10, NotSupported 0x11, AccessDenied 0x20,
    NotPermitted 0x21, InvalidState 0x22, InvalidOperation 0x23, NotInitialized 0x24,
    AlreadyInUse 0x25, AlreadyDone 0x26, NotYetAvailable 0x27, NoLongerAvailable 0x28,
    InsufficientMemory 0x30, InsufficientResource 0x31, ResourceError 0x32, BadParameter 0x100,
    BadAddress 0x101, TooBig 0x102, Overflow 0x103, InconsistentData 0x104, InsufficientData
    0x105, IndexOutOfRange 0x106, ValueOutOfRange 0x107, Timeout 0x200, TryItAgain 0x201, Busy
    0x202, InterruptedCall 0x203, NoSuchDevice 0x1000, NoSpace 0x1001, NoSuchDevAddr 0x1002, IO
    0x1003, InvalidIoctlNum 0x1004, NoSuchEntry 0x1100, BadFileDesc 0x1101, CorruptedFileSys
    0x1102, FileExists 0x1103, IsDirectory 0x1104, ReadOnlyFileSys 0x1105, TextFileBusy 0x1106,
    FileNameTooLong 0x1107, FileTooBig 0x1108, TooManySymbolLinks 0x1109, TooManyOpenFiles
    0x110A, FileTableOverflow 0x110B, EndOfFile 0x110C, ConnectionReset 0x1200,
    AlreadyInProgress 0x1201, NoData 0x1202, NoDesiredMessage 0x1203, MessageSize 0x1204,
    NoRemote 0x1205, NoSuchProcess 0x2000, MutexNotRecoverable 0x2100, LockOwnerDead 0x2101,
    ResourceDeadlock 0x2102, ReconciliationFailed 0x10100, AttrListValidationFailed 0x10101,
    CommonEnd 0xFFFFFF, NvSciBufUnknown 0x01000000, NvSciBufEnd 0x01FFFFFF, NvSciSyncUnknown
    0x02000000, UnsupportedConfig 0x02000001, ClearedFence 0x02000002, NvSciSyncEnd 0x02FFFFFF,
    NvSciStreamUnknown 0x03000000, StreamInternalError 0x03000001, StreamBadBlock 0x03000100,
    StreamBadPacket 0x03000101, StreamBadCookie 0x03000102, StreamNotConnected 0x03000200,
    StreamNotSetupPhase 0x03000201, StreamNotSafetyPhase 0x03000202, NoStreamPacket 0x03001000,
    StreamPacketInaccessible 0x03001001, StreamPacketDeleted 0x03001002, StreamInfoNotProvided
    0x03003000, StreamLockFailed 0x03400000, StreamBadSrcIndex 0x03800000, StreamBadDstIndex
    0x03800001, NvSciStreamEnd 0x03FFFFFF, NvSciIpcUnknown 0x04000000, NvSciIpcEnd 0x04FFFFFF,
    NvSciEventUnknown 0x05000000, NvSciEventEnd 0x05FFFFFF
            """,
        )
    ),
    **dict(
        _members(
            "NvSciSyncAttrKey_",
            """
    LowerBound 0, NeedCpuAccess 1, RequiredPerm 2, ActualPerm 3,
    WaiterContextInsensitiveFenceExports 4, WaiterRequireTimestamps 5,
    RequireDeterministicFences 6, NumTimestampSlots 7, NumTaskStatusSlots 8, MaxPrimitiveValue 9,
    PrimitiveInfo 10, PeerLocationInfo 11, GpuId 12, PeerHwEngineArray 13, UpperBound 14
            """,
        )
    ),
    **dict(
        _members(
            "NvSciSyncAccessPerm_",
            "WaitOnly 1, SignalOnly 2, WaitSignal 3, Auto 0x8000000000000000",
        )
    ),
    **dict(_members("NvSciSyncTaskStatus_", "Success 0, Failure 1, Invalid 0xFFFF")),
    **dict(
        _members(
            "NvSciSyncAttrValPrimitiveType_",
            "LowerBound 0, Syncpoint 1, SysmemSemaphore 2, VidmemSemaphore 3, "
            "SysmemSemaphorePayload64b 4, VidmemSemaphorePayload64b 5",
        )
    ),
    **dict(_members("NvSciSyncWaitMode_", "Default 0, BusyWithYield 1, BusyNoYield 2, Blocking 3")),
    "NvSciSyncFenceMaxTimeout": (2**63 - 1) // 1000,
    **dict(
        _members(
            "NvSciBufType_",
            "General 0, RawBuffer 1, Image 2, Tensor 3, Array 4, Pyramid 5, MaxValid 6, "
            "UpperBound 6",
        )
    ),
    "NvSciBufAttrKey_LowerBound": 0,
    "NvSciBufAttrKey_UpperBound": 0x3FFFFFF,
    **dict(
        _members(
            "NvSciBufGeneralAttrKey_",
            """
    Types 1, NeedCpuAccess 2, RequiredPerm 3, EnableCpuCache 4, GpuId 5,
    CpuNeedSwCacheCoherency 6, ActualPerm 7, VidMem_GpuId 8, EnableGpuCache 9,
    GpuSwNeedCacheCoherency 0xA, EnableGpuCompression 0xB, PeerLocationInfo 0xC,
    PeerHwEngineArray 0xD
            """,
        )
    ),
    **dict(_members("NvSciBufRawBufferAttrKey_", "Size 0x10000, Align 0x10001")),
    **dict(
        _members(
            "NvSciBufImageAttrKey_",
            """
    Layout 0x20000, TopPadding, BottomPadding, LeftPadding, RightPadding, VprFlag, Size, Alignment,
    PlaneCount, PlaneColorFormat, PlaneColorStd 0x2000A, PlaneBaseAddrAlign, PlaneWidth,
    PlaneHeight, PlaneScanType 0x2000E, ScanType 0x2000E, PlaneBitsPerPixel, PlaneOffset 0x20010,
    PlaneDatatype, PlaneChannelCount, PlaneSecondFieldOffset, PlanePitch, PlaneAlignedHeight,
    PlaneAlignedSize, ImageCount, SurfType 0x20018, SurfMemLayout, SurfSampleType, SurfBPC,
    SurfComponentOrder, SurfWidthBase, SurfHeightBase, SurfColorStd 0x2001F
            """,
        )
    ),
    **dict(
        _members(
            "NvSciBufTensorAttrKey_",
            "DataType 0x30000, NumDims, SizePerDim, AlignmentPerDim, StridesPerDim, PixelFormat, "
            "BaseAddrAlign, Size 0x30007",
        )
    ),
    **dict(
        _members("NvSciBufArrayAttrKey_", "DataType 0x40000, Stride, Capacity, Size, Alignment")
    ),
    **dict(
        _members(
            "NvSciBufPyramidAttrKey_", "NumLevels 0x50000, Scale, LevelOffset, LevelSize, Alignment"
        )
    ),
    **dict(_members("NvSciBufAccessPerm_", "Readonly 1, ReadWrite 3, Auto 4, Invalid 5")),
    **dict(
        _members(
            "NvSciDataType_",
            "Int4 0, Uint4, Int8, Uint8, Int16, Uint16, Int32, Uint32, Float16, Float32, FloatISP, "
            "Bool, UpperBound 12",
        )
    ),
    **dict(_members("NvSciBufImage_", "BlockLinearType 0, PitchLinearType")),
    **dict(_members("NvSciBufScan_", "ProgressiveType 0, InterlaceType")),
    **dict(_members("NvSciBufCompressionType_", "None 0, GenericCompressible")),
    **dict(_members("NvSciSurfType_", "YUV 0, RGBA, RAW, MaxValid")),
    **dict(_members("NvSciSurfMemLayout_", "Packed 0, SemiPlanar, Planar, MaxValid")),
    # Version 2.11 has one more value than 2.7 before MaxValid in the next two.
    **dict(_members("NvSciSurfSampleType_", "420 0, 422, 444, 422R, 400, MaxValid")),
    **dict(_members("NvSciSurfComponentOrder_", "YUV 0, YVU, Luma, MaxValid")),
    **dict(
        _members("NvSciSurfBPC_", "Layout_16_8_8 0, Layout_10_8_8, 8, 10, 12, 14, 16, MaxValid")
    ),
    # A sample of the colour formats at the joints of their groups.
    **dict(
        _members(
            "NvSciColor_",
            "LowerBound 0, Bayer8RGGB 1, Bayer16RGGB 10, X2Bayer14GBRG 19, U8V8 74, Y8 84, "
            "A8Y8U8V8 96, A8 102, Float_A16 116, X6Bayer10BGGI_RGGI 117, X4Bayer12RGGB_RJ 149, "
            "R8 150, UpperBound 153",
        )
    ),
    **dict(_members("NvSciColorStd_", "SRGB 0, REC601_SR 1, REC709_ER 4, REQ2020PQ_ER 11")),
    "NV_SCI_BUF_TENSOR_MAX_DIMS": 8,
    "NV_SCI_BUF_IMAGE_MAX_PLANES": 3,
    "NV_SCI_BUF_PYRAMID_MAX_LEVELS": 10,
    "NVSCIIPC_MAX_ENDPOINT_NAME": 64,
    "NVSCIIPC_INFINITE_WAIT": -1,
}

CUDA_CONSTANTS = {
    **dict(
        _members(
            "cuda",
            """
    Success 0, ErrorInvalidValue 1, ErrorMemoryAllocation 2, ErrorInitializationError 3,
    ErrorInvalidPitchValue 12, ErrorInvalidDevicePointer 17, ErrorInvalidMemcpyDirection 21,
    ErrorInsufficientDriver 35, ErrorNoDevice 100, ErrorInvalidDevice 101,
    ErrorInvalidResourceHandle 400, ErrorIllegalState 401, ErrorNotReady 600,
    ErrorIllegalAddress 700, ErrorHostMemoryAlreadyRegistered 712, ErrorHostMemoryNotRegistered 713,
    ErrorLaunchFailure 719, ErrorNotPermitted 800, ErrorNotSupported 801,
    ErrorStreamCaptureUnsupported 900, ErrorStreamCaptureInvalidated 901,
    ErrorStreamCaptureImplicit 906, ErrorCapturedEvent 907, ErrorTimeout 909,
    ErrorExternalDevice 911, ErrorUnknown 999, ErrorApiFailureBase 10000,
    MemcpyHostToHost 0, MemcpyHostToDevice 1, MemcpyDeviceToHost 2, MemcpyDeviceToDevice 3,
    MemcpyDefault 4, StreamDefault 0, StreamNonBlocking 1,
    EventDefault 0, EventBlockingSync 1, EventDisableTiming 2, EventInterprocess 4,
    ExternalMemoryHandleTypeNvSciBuf 8, ExternalSemaphoreHandleTypeNvSciSync 6,
    NvSciSyncAttrSignal 1, NvSciSyncAttrWait 2,
    ExternalSemaphoreSignalSkipNvSciBufMemSync 1, ExternalSemaphoreWaitSkipNvSciBufMemSync 2,
    DevAttrIntegrated 18, DevAttrUnifiedAddressing 41, DevAttrComputeCapabilityMajor 75,
    DevAttrComputeCapabilityMinor 76, DevAttrManagedMemory 83,
    MemAttachGlobal 1, MemAttachHost 2, MemAttachSingle 4,
    HostAllocDefault 0, HostAllocPortable 1, HostAllocMapped 2, HostAllocWriteCombined 4,
    HostRegisterDefault 0, HostRegisterPortable 1, HostRegisterMapped 2,
    MemoryTypeUnregistered 0, MemoryTypeHost 1, MemoryTypeDevice 2, MemoryTypeManaged 3,
    StreamCaptureStatusNone 0, StreamCaptureStatusActive 1, StreamCaptureStatusInvalidated 2
            """,
        )
    ),
    **dict(
        _members(
            "CUDA_",
            "SUCCESS 0, ERROR_INVALID_VALUE 1, ERROR_OUT_OF_MEMORY 2, ERROR_NOT_INITIALIZED 3, "
            "ERROR_NO_DEVICE 100, ERROR_INVALID_DEVICE 101, ERROR_INVALID_CONTEXT 201, "
            "ERROR_INVALID_HANDLE 400, ERROR_NOT_FOUND 500, ERROR_NOT_READY 600, "
            "ERROR_NOT_SUPPORTED 801, ERROR_EXTERNAL_DEVICE 911, ERROR_UNKNOWN 999",
        )
    ),
    "CU_DEVICE_ATTRIBUTE_INTEGRATED": 18,
    "CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING": 41,
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 75,
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": 76,
    "CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY": 83,
    "CUDART_VERSION": 12090,
    "CUDA_VERSION": 12090,
}

# type: (size, alignment, {field: offset})
Layout = dict[str, tuple[int, int, dict[str, int]]]

CUDLA_LAYOUT: Layout = {
    **{
        name: (4, 4, {})
        for name in [
            "cudlaStatus",
            "cudlaMode",
            "cudlaScratchMemoryConfig",
            "cudlaNvSciSyncAttributes",
            "cudlaModuleAttributeType",
            "cudlaFenceType",
            "cudlaModuleLoadFlags",
            "cudlaSubmissionFlags",
            "cudlaAccessPermissionFlags",
            "cudlaDevAttributeType",
            "cudlaTranslateAttributeType",
        ]
    },
    "cudlaExternalMemoryHandleDesc": (16, 8, {"extBufObject": 0, "size": 8}),
    "cudlaExternalSemaphoreHandleDesc": (8, 8, {"extSyncObject": 0}),
    "cudlaDevHandle": (8, 8, {}),
    "cudlaModule": (8, 8, {}),
    "cudlaModuleTensorDescriptor": (
        168,
        8,
        {
            "name": 0,
            "size": 88,
            "n": 96,
            "c": 104,
            "h": 112,
            "w": 120,
            "dataFormat": 128,
            "dataType": 129,
            "dataCategory": 130,
            "pixelFormat": 131,
            "pixelMapping": 132,
            "stride": 136,
        },
    ),
    "cudlaModuleAttribute": (
        8,
        8,
        {"numInputTensors": 0, "numOutputTensors": 0, "inputTensorDesc": 0, "outputTensorDesc": 0},
    ),
    "CudlaFence": (16, 8, {"fence": 0, "type": 8}),
    "cudlaWaitEvents": (16, 8, {"preFences": 0, "numEvents": 8}),
    "cudlaSignalEvents": (24, 8, {"devPtrs": 0, "eofFences": 8, "numEvents": 16}),
    "cudlaTask": (
        48,
        8,
        {
            "moduleHandle": 0,
            "outputTensor": 8,
            "numOutputTensors": 16,
            "numInputTensors": 20,
            "inputTensor": 24,
            "waitEvents": 32,
            "signalEvents": 40,
        },
    ),
    "cudlaDevAttribute": (4, 4, {"unifiedAddressingSupported": 0, "deviceVersion": 0}),
    "cudlaTranslateCsvAttribute": (8, 8, {"csvStreamLength": 0, "csvStreamStats": 0}),
    "cudlaExternalEtbl": (
        16,
        8,
        {"etiTranslateStats": 0, "etiTranslateStatsForMultiModule": 8},
    ),
    # The tags are part of the ABI of C++ programs (name mangling).
    "struct cudlaExternalMemoryHandleDesc_t": (16, 8, {}),
    "struct cudlaExternalSemaphoreHandleDesc_t": (8, 8, {}),
    "struct cudlaModuleTensorDescriptor_t": (168, 8, {}),
    "union cudlaModuleAttribute_t": (8, 8, {}),
    "struct CudlaFence": (16, 8, {}),
    "struct cudlaTask_t": (48, 8, {}),
    "union cudlaDevAttribute_t": (4, 4, {}),
    "struct cudlaExernalEtbl_t": (16, 8, {}),
    "union cudlaTranslateCsvAttribute_t": (8, 8, {}),
    "enum cudlaStatus": (4, 4, {}),
}

NVSCI_LAYOUT: Layout = {
    "NvSciError": (4, 4, {}),
    "NvSciSyncFence": (48, 8, {"payload": 0}),
    "NvSciSyncFenceIpcExportDescriptor": (56, 8, {"payload": 0}),
    "NvSciSyncObjIpcExportDescriptor": (1024, 8, {"payload": 0}),
    "NvSciSyncAttrKeyValuePair": (24, 8, {"attrKey": 0, "value": 8, "len": 16}),
    "NvSciBufAttrKeyValuePair": (24, 8, {"key": 0, "value": 8, "len": 16}),
    "NvSciSyncAccessPerm": (8, 8, {}),
    "NvSciSyncTaskStatus": (
        16,
        1,
        {"timestamp": 0, "statusEngine": 8, "subframe": 12, "status": 14},
    ),
    "NvSciBufObjIpcExportDescriptor": (256, 1, {"data": 0}),
    "NvSciRmGpuId": (16, 1, {"bytes": 0}),
    "NvSciBufAttrValGpuCache": (17, 1, {"gpuId": 0, "cacheability": 16}),
    "NvSciBufAttrValGpuCompression": (20, 4, {"gpuId": 0, "compressionType": 16}),
    "NvSciBufRect": (32, 8, {"x0": 0, "y0": 8, "x1": 16, "y1": 24}),
    "NvSciIpcEndpoint": (8, 8, {}),
    "NvSciIpcEndpointInfo": (8, 4, {"nframes": 0, "frame_size": 4}),
    **{
        name: (8, 8, {})
        for name in [
            "NvSciBufModule",
            "NvSciBufObj",
            "NvSciBufObjConst",
            "NvSciBufAttrList",
            "NvSciSyncModule",
            "NvSciSyncCpuWaitContext",
            "NvSciSyncObj",
            "NvSciSyncObjConst",
            "NvSciSyncAttrList",
        ]
    },
}

CUDA_LAYOUT: Layout = {
    "cudaError_t": (4, 4, {}),
    "enum cudaError": (4, 4, {}),
    "struct cudaExternalMemoryHandleDesc": (
        40,
        8,
        {
            "type": 0,
            "handle": 8,
            "handle.fd": 8,
            "handle.win32.handle": 8,
            "handle.win32.name": 16,
            "handle.nvSciBufObject": 8,
            "size": 24,
            "flags": 32,
        },
    ),
    "struct cudaExternalMemoryBufferDesc": (24, 8, {"offset": 0, "size": 8, "flags": 16}),
    "struct cudaExternalSemaphoreHandleDesc": (
        32,
        8,
        {"type": 0, "handle": 8, "handle.nvSciSyncObj": 8, "flags": 24},
    ),
    "struct cudaExternalSemaphoreSignalParams": (
        144,
        8,
        {
            "params.fence.value": 0,
            "params.nvSciSync.fence": 8,
            "params.nvSciSync.reserved": 8,
            "params.keyedMutex.key": 16,
            "flags": 72,
            "reserved": 76,
        },
    ),
    "struct cudaExternalSemaphoreWaitParams": (
        144,
        8,
        {
            "params.fence.value": 0,
            "params.nvSciSync.fence": 8,
            "params.keyedMutex.key": 16,
            "params.keyedMutex.timeoutMs": 24,
            "flags": 72,
            "reserved": 76,
        },
    ),
    "struct cudaPointerAttributes": (
        24,
        8,
        {"type": 0, "device": 4, "devicePointer": 8, "hostPointer": 16},
    ),
    "struct cudaDeviceProp": (
        1032,
        8,
        {
            "name": 0,
            "uuid": 256,
            "luid": 272,
            "luidDeviceNodeMask": 280,
            "totalGlobalMem": 288,
            "sharedMemPerBlock": 296,
            "regsPerBlock": 304,
            "warpSize": 308,
            "memPitch": 312,
            "maxThreadsPerBlock": 320,
            "maxThreadsDim": 324,
            "maxGridSize": 336,
            "clockRate": 348,
            "totalConstMem": 352,
            "major": 360,
            "minor": 364,
            "multiProcessorCount": 388,
            "integrated": 396,
            "canMapHostMemory": 400,
            "concurrentKernels": 576,
            "unifiedAddressing": 604,
            "memoryClockRate": 608,
            "managedMemory": 652,
        },
    ),
    "cudaUUID_t": (16, 1, {"bytes": 0}),
    "CUuuid": (16, 1, {"bytes": 0}),
    "CUdevice": (4, 4, {}),
    "CUdeviceptr": (8, 8, {}),
    "cudaStream_t": (8, 8, {}),
    "cudaEvent_t": (8, 8, {}),
}
