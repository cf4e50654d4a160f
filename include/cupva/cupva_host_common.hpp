/*
 * cupva_host_common.hpp - constants, enumerations, structures and the exception of the C++ API.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_COMMON_HPP
#define CUDLA_SIM_CUPVA_CUPVA_HOST_COMMON_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "cupva_host.h"
#include "cupva_types.h"

#ifndef CUPVA_DEVICE
#define CUPVA_DEVICE 0
#endif
static_assert(CUPVA_DEVICE == 0, "this header is for the host; VPU code includes cupva_device.h");

namespace cupva {

using float32_t = ::float32_t;
using char_t = char;

namespace config {
constexpr int32_t MAX_L2SRAM_SIZE = CUPVA_MAX_L2SRAM_SIZE;
constexpr int32_t MAX_SYMBOL_LENGTH = CUPVA_MAX_SYMBOL_LENGTH;
constexpr int32_t MAX_CMD_REQUEST_FENCES_ARRAY_SIZE = CUPVA_MAX_CMD_REQUEST_FENCES_ARRAY_SIZE;
constexpr int32_t MAX_CMD_WAIT_ON_FENCES_ARRAY_SIZE = CUPVA_MAX_CMD_WAIT_ON_FENCES_ARRAY_SIZE;
constexpr int32_t MAX_NUM_COMMANDS_PER_SUBMIT = CUPVA_MAX_NUM_COMMANDS_PER_SUBMIT;
constexpr int32_t MAX_TOTAL_PARAM_SIZE = CUPVA_MAX_TOTAL_PARAM_SIZE;
constexpr int32_t MAX_STREAM_NAME_LENGTH = 64;
constexpr uint32_t ENGINE_MASK_ALL = UINT32_MAX;
} // namespace config

/** The values are those of cupvaError_t. */
enum class Error : uint32_t {
    None = CUPVA_ERROR_NONE,
    UnsupportedFeature = CUPVA_UNSUPPORTED_FEATURE,
    InternalError = CUPVA_INTERNAL_ERROR,
    InvalidState = CUPVA_INVALID_STATE,
    InvalidArgument = CUPVA_INVALID_ARGUMENT,
    UninitializedObject = CUPVA_UNINITIALIZED_OBJECT,
    DriverAPIError = CUPVA_DRIVER_API_ERROR,
    CommandExecutionTimeout = CUPVA_COMMAND_EXECUTION_TIMEOUT,
    CommandSubmissionTimeout = CUPVA_COMMAND_SUBMISSION_TIMEOUT,
    EngineInBadState = CUPVA_ENGINE_IN_BAD_STATE,
    FenceStatusBufferFailure = CUPVA_FENCE_STATUS_BUFFER_FAILURE,
    VpuApplicationError = CUPVA_VPU_APPLICATION_ERROR,
    VpuDivideByZero = CUPVA_VPU_DIVIDE_BY_ZERO,
    VpuFloatingPointNotANumber = CUPVA_VPU_FLOATING_POINT_NAN,
    VpuIllegalInstruction = CUPVA_VPU_ILLEGAL_INSTRUCTION,
    VpuHalted = CUPVA_VPU_HALTED,
    VpuDebugNotAllowed = CUPVA_VPU_DEBUG_NOT_ALLOWED,
    VpuAborted = CUPVA_VPU_ABORTED,
    OperationPending = CUPVA_OPERATION_PENDING,
    VpuBufferOverflow = CUPVA_VPU_BUFFER_OVERFLOW,
    PSFDCheckMismatch = CUPVA_PSFD_CHECK_MISMATCH,
    PSFDTimeout = CUPVA_PSFD_TIMEOUT,
    NotAllowedInOperationalState = CUPVA_NOT_ALLOWED_IN_OPERATIONAL_STATE,
    IncompatibleVersion = CUPVA_INCOMPATIBLE_VERSION,
    CudaDisabled = CUPVA_CUDA_DISABLED,
    InsufficientDriverVersion = CUPVA_INSUFFICIENT_DRIVER_VERSION
};

/* --- enumerations; the unscoped ones may be used without the name of their type --- */

enum EngineType : uint32_t { PVA0 = CUPVA_PVA0, PVA1 = CUPVA_PVA1 };

enum AffinityType : uint32_t { VPU0 = CUPVA_VPU0, VPU1 = CUPVA_VPU1, VPU_ANY = CUPVA_VPU_ANY };

enum OrderType : uint32_t {
    IN_ORDER = CUPVA_IN_ORDER, /* begin and end in order */
    OUT_OF_ORDER = CUPVA_OUT_OF_ORDER /* begin in order, may end in any */
};

enum SyncClientType : uint32_t {
    SIGNALER = CUPVA_SIGNALER,
    WAITER = CUPVA_WAITER,
    SIGNALER_WAITER = CUPVA_SIGNALER_WAITER
};

enum SyncWaitMode : uint32_t { YIELD = CUPVA_SYNC_YIELD, SPIN = CUPVA_SYNC_SPIN };

/** Where a device pointer points to. */
enum class MemType : uint32_t {
    DRAM = CUPVA_MEM_DRAM,
    SRAM = CUPVA_MEM_L2SRAM,
    L2SRAM = SRAM, /* as the C interface has it */
    VMEM = CUPVA_MEM_VMEM
};

enum class GenType : uint32_t {
    PVA_GEN1 = CUPVA_PVA_GEN1,
    PVA_GEN2 = CUPVA_PVA_GEN2,
    PVA_GEN3 = CUPVA_PVA_GEN3
};

/** How much one trigger moves. */
enum class GranType : uint32_t {
    TILE = CUPVA_TILE,
    DIM1 = CUPVA_DIM1,
    DIM2 = CUPVA_DIM2,
    ALL = CUPVA_ALL
};

enum class PadModeType : uint32_t {
    PAD_CONST = CUPVA_PAD_CONST,
    PAD_BPE = CUPVA_PAD_BPE /* the nearest real pixel */
};

/** One bit a side, so that sides can be combined; opposite sides make the INVALID ones. */
enum PadDirType : uint8_t {
    PAD_NONE = 0,
    PAD_TOP = 1,
    PAD_BOTTOM = 2,
    INVALID_PAD_TOP_BOTTOM = 3,
    PAD_LEFT = 4,
    PAD_TOP_LEFT = 5,
    PAD_BOTTOM_LEFT = 6,
    INVALID_PAD_TOP_BOTTOM_LEFT = 7,
    PAD_RIGHT = 8,
    PAD_TOP_RIGHT = 9,
    PAD_BOTTOM_RIGHT = 10,
    INVALID_PAD_TOP_BOTTOM_RIGHT = 11,
    INVALID_PAD_LEFT_RIGHT = 12,
    INVALID_PAD_TOP_LEFT_RIGHT = 13,
    INVALID_PAD_BOTTOM_LEFT_RIGHT = 14,
    INVALID_PAD_TOP_BOTTOM_LEFT_RIGHT = 15
};

constexpr PadDirType operator|(PadDirType const one, PadDirType const other)
{
    return static_cast<PadDirType>(static_cast<uint8_t>(one) | static_cast<uint8_t>(other));
}

/** Bits for RasterDataFlow::scanOrder. None: rows from left to right, top to bottom. */
enum ScanOrderType : uint32_t {
    HORIZONTAL_REVERSED = 1,
    VERTICAL_REVERSED = 2,
    COLUMN_MAJOR = 4,
    SCANORDER_MASK_ALL = 7
};

/** How much of a transfer of a SequenceDataFlow one trigger moves. */
enum class TransferModeType : uint32_t {
    CONTINUOUS = CUPVA_TRANSFER_MODE_CONTINUOUS,
    TILE = CUPVA_TRANSFER_MODE_TILE,
    DIM1 = CUPVA_TRANSFER_MODE_DIM1,
    DIM2 = CUPVA_TRANSFER_MODE_DIM2,
    DIM3 = CUPVA_TRANSFER_MODE_DIM3
};

/** TRANS_MODE_NONE, TRANS_MODE_1, ... as VPU code knows them. */
using TransModeType = ::TranspositionMode;

/** What became of a submitted command; a place of it is filled by each submission. */
using CmdStatus = ::cupvaCmdStatus_t;

struct HardwareInfo {
    uint32_t pvaEngineCount;
    uint32_t pvaVPUCount; /* of one engine */
    GenType pvaGen;
};

/** Health of the current Context. */
struct Status {
    Error err; /* None: nothing is wrong, the rest says nothing */
    uint32_t stream; /* number of the Stream, from 1 */
    uint32_t submissionsSinceError;
    uint32_t command;
    char_t const *streamName;
};

namespace mem {

enum AccessType : uint32_t { READ = CUPVA_READ, WRITE = CUPVA_WRITE, READ_WRITE = CUPVA_READ_WRITE };

enum AllocType : uint32_t { ALLOC_DRAM = CUPVA_ALLOC_DRAM, ALLOC_CVSRAM = CUPVA_ALLOC_CVSRAM };

enum class ExternalAllocType : uint32_t {
    HOST = CUPVA_EXTERNAL_ALLOC_TYPE_HOST,
    CUDA = CUPVA_EXTERNAL_ALLOC_TYPE_CUDA
};

enum class BufferType : uint32_t { RAW = CUPVA_RAW, SURFACE = CUPVA_SURFACE };

enum SurfaceFormatType : uint32_t {
    PITCH_LINEAR = CUPVA_PITCH_LINEAR,
    BLOCK_LINEAR = CUPVA_BLOCK_LINEAR
};

enum class L2SRAMPolicyType : uint32_t {
    FILL = CUPVA_L2SRAM_POLICY_FILL,
    FLUSH = CUPVA_L2SRAM_POLICY_FLUSH,
    FILL_AND_FLUSH = CUPVA_L2SRAM_POLICY_FILL_AND_FLUSH
};

enum class L2OperationType : uint32_t {
    FLUSH = CUPVA_L2_OPERATION_FLUSH,
    INVALIDATE = CUPVA_L2_OPERATION_INVALIDATE,
    FLUSH_AND_INVALIDATE = CUPVA_L2_OPERATION_FLUSH_AND_INVALIDATE
};

constexpr int32_t SURFACE_ATTRIBUTES_MAX_NUM_PLANES = CUPVA_SURFACE_ATTRIBUTES_MAX_NUM_PLANES;

struct PlaneInfo {
    int64_t offset; /* bytes */
    int32_t linePitch; /* bytes */
    int32_t widthInBytes;
    int32_t height;
};

struct SurfaceAttributes {
    SurfaceFormatType format;
    int32_t numPlanes;
    std::array<PlaneInfo, SURFACE_ATTRIBUTES_MAX_NUM_PLANES> planes;
};

struct PointerAttributes {
    void *devicePtr; /* base of the allocation */
    void *hostPtr; /* of the pointer that was asked about; nullptr where the host sees nothing */
    int64_t size; /* bytes of the allocation */
    int64_t offset; /* from its base to the pointer that was asked about */
    MemType memType;
    BufferType bufferType;
};

} // namespace mem

/** Thrown by everything that fails. */
class Exception : public std::exception {
public:
    Exception(Error const code, std::string text) : m_code(code), m_text(std::move(text)) {}

    /** Why: the rule that was broken, the values, the legal range. */
    char const *what() const noexcept override { return m_text.c_str(); }

    Error getErrorCode() const noexcept { return m_code; }

private:
    Error m_code;
    std::string m_text;
};

namespace impl {

/** Throws when a function of the C interface failed. */
inline void check(cupvaError_t const status)
{
    if (status == CUPVA_ERROR_NONE)
        return;
    char const *text = nullptr;
    CupvaGetLastError(&text);
    if (text == nullptr)
        text = "no explanation";
    throw Exception(static_cast<Error>(status), text);
}

[[noreturn]] inline void unsupported(char const *const why)
{
    throw Exception(Error::UnsupportedFeature, why);
}

} // namespace impl

} // namespace cupva

#endif
