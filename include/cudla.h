/* SPDX-License-Identifier: Apache-2.0
 *
 * cudla.h - the cuDLA programming interface, as cudla-sim implements it.
 *
 * Names, numbers and layouts are those a program written for NVIDIA's cuDLA 1.5 expects; the wording
 * is our own. Two kinds of device handle exist: a "hybrid" one takes its work from a CUDA stream, a
 * "standalone" one takes it in submission order and synchronises through NvSciSync.
 *
 * Unless a comment says otherwise, a device handle that is NULL, destroyed or foreign is answered
 * with cudlaErrorInvalidDevice, a NULL result pointer or an undefined flag with
 * cudlaErrorInvalidParam, and anything the simulator did not foresee with cudlaErrorUnknown.
 * Functions marked [async] may also hand out the fault of an earlier task.
 */
#ifndef __CUDLA_H__
#define __CUDLA_H__

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Version of the interface ------------------------------------------------------------ */

#define CUDLA_VER_MAJOR 1U
#define CUDLA_VER_MINOR 5U
#define CUDLA_VER_PATCH 0U

/* ---- Results ------------------------------------------------------------------------------- */

typedef enum cudlaStatus {
    cudlaSuccess = 0,
    cudlaErrorInvalidParam = 1,             /* an argument is NULL, out of range or contradictory */
    cudlaErrorOutOfResources = 2,           /* no handle, slot or memory left */
    cudlaErrorCreationFailed = 3,           /* a device handle could not be set up */
    cudlaErrorInvalidAddress = 4,           /* memory that is not registered, or not ours to register */
    cudlaErrorOs = 5,                       /* the operating system refused */
    cudlaErrorCuda = 6,                     /* the CUDA runtime refused */
    cudlaErrorUmd = 7,                      /* the engine's driver refused, e.g. a broken loadable */
    cudlaErrorInvalidDevice = 8,            /* the device handle means nothing */
    cudlaErrorInvalidAttribute = 9,         /* an attribute nobody defined */
    cudlaErrorIncompatibleDlaSWVersion = 10,
    cudlaErrorMemoryRegistered = 11,        /* registered already; harmless, carry on */
    cudlaErrorInvalidModule = 12,           /* the module handle means nothing */
    cudlaErrorUnsupportedOperation = 13,    /* not in this mode, or not on this machine */
    cudlaErrorNvSci = 14,                   /* an NvSci call made on the program's behalf failed */
    cudlaErrorDriverNotFound = 15,
    /* Faults that the engine reports after a task has run. */
    cudlaErrorDlaErrInvalidInput = 0x40000001,
    cudlaErrorDlaErrInvalidPreAction = 0x40000002,
    cudlaErrorDlaErrNoMem = 0x40000003,
    cudlaErrorDlaErrProcessorBusy = 0x40000004,
    cudlaErrorDlaErrTaskStatusMismatch = 0x40000005,
    cudlaErrorDlaErrEngineTimeout = 0x40000006,
    cudlaErrorDlaErrDataMismatch = 0x40000007,
    cudlaErrorUnknown = 0x7fffffff
} cudlaStatus;

/* ---- Flags and selectors ------------------------------------------------------------------- */

/* cudlaCreateDevice: who orders and synchronises the work. */
typedef enum cudlaMode {
    CUDLA_CUDA_DLA = 0,  /* hybrid: CUDA streams do */
    CUDLA_STANDALONE = 1 /* standalone: NvSciSync does */
} cudlaMode;

/* cudlaCreateDevice: may be OR-ed into the mode. */
typedef enum cudlaScratchMemoryConfig {
    CUDLA_SCRATCH_MEMORY_DEFAULT = 0,
    CUDLA_SCRATCH_MEMORY_SHARED_STATIC = 0x2,
    CUDLA_SCRATCH_MEMORY_CONFIG_MAX = 0x7FFFFFFF
} cudlaScratchMemoryConfig;

/* cudlaModuleLoadFromMemory. */
typedef enum cudlaModuleLoadFlags {
    CUDLA_MODULE_DEFAULT = 0,
    CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS = 1 /* the built-in self test instead of a loadable */
} cudlaModuleLoadFlags;

/* cudlaModuleGetAttributes. */
typedef enum cudlaModuleAttributeType {
    CUDLA_NUM_INPUT_TENSORS = 0,
    CUDLA_NUM_OUTPUT_TENSORS = 1,
    CUDLA_INPUT_TENSOR_DESCRIPTORS = 2,
    CUDLA_OUTPUT_TENSOR_DESCRIPTORS = 3,
    CUDLA_NUM_OUTPUT_TASK_STATISTICS = 4,        /* answered in numOutputTensors */
    CUDLA_OUTPUT_TASK_STATISTICS_DESCRIPTORS = 5 /* answered in outputTensorDesc */
} cudlaModuleAttributeType;

/* cudlaDeviceGetAttribute. */
typedef enum cudlaDevAttributeType {
    CUDLA_UNIFIED_ADDRESSING = 0,
    CUDLA_DEVICE_VERSION = 1
} cudlaDevAttributeType;

/* cudlaMemRegister and cudlaImportExternalMemory. */
typedef enum cudlaAccessPermissionFlags {
    CUDLA_READ_WRITE_PERM = 0,
    CUDLA_READ_ONLY_PERM = 1,
    CUDLA_TASK_STATISTICS = 2 /* the engine writes layer statistics here */
} cudlaAccessPermissionFlags;

/* cudlaSubmitTask. */
typedef enum cudlaSubmissionFlags {
    CUDLA_SUBMIT_NOOP = 1,              /* honour the events, compute nothing */
    CUDLA_SUBMIT_SKIP_LOCK_ACQUIRE = 2, /* the caller promises that nobody else submits */
    CUDLA_SUBMIT_DIAGNOSTICS_TASK = 4   /* run the self test module */
} cudlaSubmissionFlags;

/* cudlaGetNvSciSyncAttributes: the part that the DLA will play. */
typedef enum cudlaNvSciSyncAttributes {
    CUDLA_NVSCISYNC_ATTR_WAIT = 1,
    CUDLA_NVSCISYNC_ATTR_SIGNAL = 2
} cudlaNvSciSyncAttributes;

/* When a fence of a signal event expires. */
typedef enum cudlaFenceType {
    CUDLA_NVSCISYNC_FENCE = 1,    /* once the task is done */
    CUDLA_NVSCISYNC_FENCE_SOF = 2 /* as the task starts */
} cudlaFenceType;

/* ---- Codes found in a tensor descriptor ------------------------------------------------------ */

#define CUDLA_LOADABLE_TENSOR_DESC_NUM_STRIDES 8U
#define CUDLA_RUNTIME_TENSOR_DESC_NAME_MAX_LEN 80U

#define CUDLA_DATA_TYPE_UNKNOWN 0U
#define CUDLA_DATA_TYPE_FLOAT 1U
#define CUDLA_DATA_TYPE_HALF 2U
#define CUDLA_DATA_TYPE_INT16 3U
#define CUDLA_DATA_TYPE_INT8 4U
#define CUDLA_DATA_TYPE_UINT8 5U
#define CUDLA_DATA_TYPE_UINT16 6U

#define CUDLA_DATA_FORMAT_UNKNOWN 0U
#define CUDLA_DATA_FORMAT_NCHW 1U
#define CUDLA_DATA_FORMAT_NHWC 2U
#define CUDLA_DATA_FORMAT_NCxHWx 3U

#define CUDLA_DATA_CATEGORY_IMAGE 0U
#define CUDLA_DATA_CATEGORY_WEIGHT 1U
#define CUDLA_DATA_CATEGORY_FEATURE 2U
#define CUDLA_DATA_CATEGORY_PLANAR 3U
#define CUDLA_DATA_CATEGORY_BIAS 4U

#define CUDLA_PIXEL_MAPPING_PITCH_LINEAR 0U
#define CUDLA_PIXEL_MAPPING_BLOCK_LINEAR 1U

/* One component. */
#define CUDLA_PIXEL_FORMAT_R8 0U
#define CUDLA_PIXEL_FORMAT_R10 1U
#define CUDLA_PIXEL_FORMAT_R12 2U
#define CUDLA_PIXEL_FORMAT_R16 3U
#define CUDLA_PIXEL_FORMAT_R16_I 4U
#define CUDLA_PIXEL_FORMAT_R16_F 5U
/* Four components of 16 bits. */
#define CUDLA_PIXEL_FORMAT_A16B16G16R16 6U
#define CUDLA_PIXEL_FORMAT_X16B16G16R16 7U
#define CUDLA_PIXEL_FORMAT_A16B16G16R16_F 8U
#define CUDLA_PIXEL_FORMAT_A16Y16U16V16 9U
#define CUDLA_PIXEL_FORMAT_V16U16Y16A16 10U
#define CUDLA_PIXEL_FORMAT_A16Y16U16V16_F 11U
/* Four components of 8 bits. */
#define CUDLA_PIXEL_FORMAT_A8B8G8R8 12U
#define CUDLA_PIXEL_FORMAT_A8R8G8B8 13U
#define CUDLA_PIXEL_FORMAT_B8G8R8A8 14U
#define CUDLA_PIXEL_FORMAT_R8G8B8A8 15U
#define CUDLA_PIXEL_FORMAT_X8B8G8R8 16U
#define CUDLA_PIXEL_FORMAT_X8R8G8B8 17U
#define CUDLA_PIXEL_FORMAT_B8G8R8X8 18U
#define CUDLA_PIXEL_FORMAT_R8G8B8X8 19U
/* Ten bits a colour, two for alpha. */
#define CUDLA_PIXEL_FORMAT_A2B10G10R10 20U
#define CUDLA_PIXEL_FORMAT_A2R10G10B10 21U
#define CUDLA_PIXEL_FORMAT_B10G10R10A2 22U
#define CUDLA_PIXEL_FORMAT_R10G10B10A2 23U
#define CUDLA_PIXEL_FORMAT_A2Y10U10V10 24U
#define CUDLA_PIXEL_FORMAT_V10U10Y10A2 25U
#define CUDLA_PIXEL_FORMAT_A8Y8U8V8 26U
#define CUDLA_PIXEL_FORMAT_V8U8Y8A8 27U
/* Luminance in one plane, chrominance interleaved in another. */
#define CUDLA_PIXEL_FORMAT_Y8___U8V8_N444 28U
#define CUDLA_PIXEL_FORMAT_Y8___V8U8_N444 29U
#define CUDLA_PIXEL_FORMAT_Y10___U10V10_N444 30U
#define CUDLA_PIXEL_FORMAT_Y10___V10U10_N444 31U
#define CUDLA_PIXEL_FORMAT_Y12___U12V12_N444 32U
#define CUDLA_PIXEL_FORMAT_Y12___V12U12_N444 33U
#define CUDLA_PIXEL_FORMAT_Y16___U16V16_N444 34U
#define CUDLA_PIXEL_FORMAT_Y16___V16U16_N444 35U
/* No image: the engine's own feature layout, or nothing known. */
#define CUDLA_PIXEL_FORMAT_FEATURE 36U
#define CUDLA_PIXEL_FORMAT_UNKNOWN 37U

/* ---- Types --------------------------------------------------------------------------------- */

typedef struct cudlaDevHandle_t *cudlaDevHandle;
typedef struct cudlaModule_t *cudlaModule;

/* Shape and memory layout of one tensor; strides and size are bytes. */
typedef struct cudlaModuleTensorDescriptor_t {
    char name[CUDLA_RUNTIME_TENSOR_DESC_NAME_MAX_LEN + 1U];
    uint64_t size;
    uint64_t n;
    uint64_t c;
    uint64_t h;
    uint64_t w;
    uint8_t dataFormat;
    uint8_t dataType;
    uint8_t dataCategory;
    uint8_t pixelFormat;
    uint8_t pixelMapping;
    uint32_t stride[CUDLA_LOADABLE_TENSOR_DESC_NUM_STRIDES];
} cudlaModuleTensorDescriptor;

/* For the descriptor queries the caller provides the array and puts its address here. */
typedef union cudlaModuleAttribute_t {
    uint32_t numInputTensors;
    uint32_t numOutputTensors;
    cudlaModuleTensorDescriptor *inputTensorDesc;
    cudlaModuleTensorDescriptor *outputTensorDesc;
} cudlaModuleAttribute;

typedef union cudlaDevAttribute_t {
    uint8_t unifiedAddressingSupported; /* 1 when the DLA uses the CPU's addresses */
    uint32_t deviceVersion;             /* generation of the engine */
} cudlaDevAttribute;

typedef struct cudlaExternalMemoryHandleDesc_t {
    const void *extBufObject; /* an NvSciBufObj */
    unsigned long long size;  /* bytes */
} cudlaExternalMemoryHandleDesc;

typedef struct cudlaExternalSemaphoreHandleDesc_t {
    const void *extSyncObject; /* an NvSciSyncObj */
} cudlaExternalSemaphoreHandleDesc;

typedef struct CudlaFence {
    void *fence; /* an NvSciSyncFence, owned by the program */
    cudlaFenceType type;
} CudlaFence;

typedef struct cudlaWaitEvents {
    const CudlaFence *preFences;
    uint32_t numEvents;
} cudlaWaitEvents;

typedef struct cudlaSignalEvents {
    uint64_t *const *devPtrs; /* results of cudlaImportExternalSemaphore */
    CudlaFence *eofFences;    /* filled by cudlaSubmitTask; NULL fences allowed for deterministic ones */
    uint32_t numEvents;
} cudlaSignalEvents;

typedef struct cudlaTask_t {
    cudlaModule moduleHandle;
    uint64_t *const *outputTensor; /* outputs, then statistics buffers if any */
    uint32_t numOutputTensors;
    uint32_t numInputTensors;
    const uint64_t *const *inputTensor;
    const cudlaWaitEvents *waitEvents;
    cudlaSignalEvents *signalEvents;
} cudlaTask;

/* ---- Library and devices ------------------------------------------------------------------- */

/* Tells the library's version as major * 1000000 + minor * 1000 + patch.
 * cudlaSuccess, cudlaErrorInvalidParam. */
cudlaStatus cudlaGetVersion(uint64_t *const version);

/* Counts the DLA engines.
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorUmd, cudlaErrorIncompatibleDlaSWVersion. */
cudlaStatus cudlaDeviceGetCount(uint64_t *const pNumDevices);

/* Opens engine number `device` in the mode given by `flags` (cudlaMode, perhaps with a
 * cudlaScratchMemoryConfig). An engine serves at most 16 handles at a time. Hybrid mode binds to the
 * calling thread's CUDA device and refuses a discrete GPU.
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorOutOfResources, cudlaErrorCreationFailed,
 * cudlaErrorIncompatibleDlaSWVersion, cudlaErrorCuda, cudlaErrorUmd, cudlaErrorUnsupportedOperation. */
cudlaStatus cudlaCreateDevice(uint64_t const device, cudlaDevHandle *const devHandle,
                              uint32_t const flags);

/* Closes a handle. Memory still registered through it is unregistered.
 * cudlaSuccess, cudlaErrorInvalidDevice, cudlaErrorCuda, cudlaErrorUmd. */
cudlaStatus cudlaDestroyDevice(cudlaDevHandle const devHandle);

/* Answers a property of the engine.
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorInvalidDevice, cudlaErrorInvalidAttribute,
 * cudlaErrorUmd. */
cudlaStatus cudlaDeviceGetAttribute(cudlaDevHandle const devHandle,
                                    cudlaDevAttributeType const attrib,
                                    cudlaDevAttribute *const pAttribute);

/* Tells how the most recently finished task of this handle ended: cudlaSuccess or one of the
 * cudlaErrorDlaErr* codes; never blocks. cudlaErrorInvalidDevice, cudlaErrorUnknown. */
cudlaStatus cudlaGetLastError(cudlaDevHandle const devHandle);

/* Sets how long a task may run, in milliseconds from 1 to 1000000 (30000 when never called).
 * cudlaSuccess; cudlaErrorInvalidParam, also for a bad handle. */
cudlaStatus cudlaSetTaskTimeoutInMs(cudlaDevHandle const devHandle, uint32_t const timeout);

/* ---- Modules ------------------------------------------------------------------------------- */

/* Loads a loadable from memory, or, with CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS and a NULL, empty
 * image, the built-in self test. A handle holds one module unless the simulator is set up otherwise.
 * cudlaSuccess, cudlaErrorInvalidDevice, cudlaErrorInvalidParam, cudlaErrorOutOfResources,
 * cudlaErrorUnsupportedOperation (a second module), cudlaErrorUmd (an image that makes no sense). */
cudlaStatus cudlaModuleLoadFromMemory(cudlaDevHandle const devHandle, const uint8_t *const pModule,
                                      size_t const moduleSize, cudlaModule *const hModule,
                                      uint32_t const flags);

/* Answers the number of tensors, or fills an array of descriptors that the caller provides through
 * `attribute`.
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorInvalidModule, cudlaErrorInvalidDevice,
 * cudlaErrorInvalidAttribute, cudlaErrorUnsupportedOperation, cudlaErrorUmd. */
cudlaStatus cudlaModuleGetAttributes(cudlaModule const hModule,
                                     cudlaModuleAttributeType const attrType,
                                     cudlaModuleAttribute *const attribute);

/* Takes a module off its device; `flags` is 0. [async]
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorInvalidModule, cudlaErrorInvalidDevice,
 * cudlaErrorUmd. */
cudlaStatus cudlaModuleUnload(cudlaModule const hModule, uint32_t const flags);

/* ---- Memory and semaphores ----------------------------------------------------------------- */

/* Hybrid mode: makes `size` bytes of CUDA memory visible to the engine. `devPtr` receives the pointer
 * to use in tasks. `flags` is 0 or CUDLA_TASK_STATISTICS. [async]
 * cudlaSuccess, cudlaErrorInvalidDevice, cudlaErrorInvalidParam, cudlaErrorInvalidAddress,
 * cudlaErrorMemoryRegistered, cudlaErrorOutOfResources, cudlaErrorUnsupportedOperation,
 * cudlaErrorCuda, cudlaErrorUmd. */
cudlaStatus cudlaMemRegister(cudlaDevHandle const devHandle, const uint64_t *const ptr,
                             size_t const size, uint64_t **const devPtr, uint32_t const flags);

/* Standalone mode: makes an NvSciBufObj of type RawBuffer or Tensor visible to the engine. `flags` is
 * one of cudlaAccessPermissionFlags. [async]
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorInvalidDevice, cudlaErrorUnsupportedOperation,
 * cudlaErrorMemoryRegistered, cudlaErrorInvalidAttribute, cudlaErrorNvSci, cudlaErrorUmd. */
cudlaStatus cudlaImportExternalMemory(cudlaDevHandle const devHandle,
                                      const cudlaExternalMemoryHandleDesc *const desc,
                                      uint64_t **const devPtr, uint32_t const flags);

/* Standalone mode: makes an NvSciSyncObj (sync point or deterministic semaphore) usable in events.
 * `flags` is 0. [async]
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorInvalidDevice, cudlaErrorUnsupportedOperation,
 * cudlaErrorMemoryRegistered, cudlaErrorInvalidAttribute, cudlaErrorNvSci. */
cudlaStatus cudlaImportExternalSemaphore(cudlaDevHandle const devHandle,
                                         const cudlaExternalSemaphoreHandleDesc *const desc,
                                         uint64_t **const devPtr, uint32_t const flags);

/* Undoes one of the three above; takes the pointer that was handed out. [async]
 * cudlaSuccess, cudlaErrorInvalidDevice, cudlaErrorInvalidAddress, cudlaErrorUmd. */
cudlaStatus cudlaMemUnregister(cudlaDevHandle const devHandle, const uint64_t *const devPtr);

/* Writes into an NvSciSyncAttrList (passed as uint64_t*) what the DLA needs as a waiter, a signaler
 * or both. The program must not have set RequiredPerm itself.
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorUnsupportedOperation, cudlaErrorInvalidAttribute,
 * cudlaErrorNvSci. */
cudlaStatus cudlaGetNvSciSyncAttributes(uint64_t *attrList, uint32_t const flags);

/* ---- Work ---------------------------------------------------------------------------------- */

/* Queues `numTasks` tasks in their order and returns at once. Hybrid: they run in `stream`, and may
 * carry no events. Standalone: `stream` is NULL; the first task waits for waitEvents, after the last
 * one signalEvents fire, and their fences are filled in before the call returns; a lone task without
 * tensors only leaves its events for the next submission. [async]
 * cudlaSuccess, cudlaErrorInvalidParam, cudlaErrorInvalidDevice, cudlaErrorInvalidModule,
 * cudlaErrorInvalidAddress (a tensor that is not registered), cudlaErrorUnsupportedOperation (not in
 * this mode, capturing stream, two sync points), cudlaErrorOutOfResources, cudlaErrorCuda,
 * cudlaErrorUmd, cudlaErrorInvalidAttribute, cudlaErrorNvSci, cudlaErrorOs. */
cudlaStatus cudlaSubmitTask(cudlaDevHandle const devHandle, const cudlaTask *const ptrToTasks,
                            uint32_t const numTasks, void *const stream, uint32_t const flags);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDLA_H__ */
