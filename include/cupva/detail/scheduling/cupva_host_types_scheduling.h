/*
 * cupva_host_types_scheduling.h - what streams, fences and memory are made of.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_HOST_TYPES_SCHEDULING_H
#define CUDLA_SIM_CUPVA_CUPVA_HOST_TYPES_SCHEDULING_H

#include "../cupva_host_types_detail.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUPVA_ENGINE_MASK_ALL 0xffffffffU
#define CUPVA_MAX_CMD_REQUEST_FENCES_ARRAY_SIZE 4
#define CUPVA_MAX_CMD_WAIT_ON_FENCES_ARRAY_SIZE 8
#define CUPVA_MAX_NUM_COMMANDS_PER_SUBMIT 256
#define CUPVA_MAX_L2SRAM_SIZE 1048576

typedef enum {
    CUPVA_ORDER_TYPE_INVALID = 0,
    CUPVA_IN_ORDER = 1, /* begin and end in order */
    CUPVA_OUT_OF_ORDER = 2, /* begin in order */
    CUPVA_ORDER_TYPE_MAX = 3
} cupvaOrderType_t;

typedef enum {
    CUPVA_ENGINE_TYPE_INVALID = 0,
    CUPVA_PVA0 = 1,
    CUPVA_PVA1 = 2,
    CUPVA_ENGINE_TYPE_MAX = 3
} cupvaEngineType_t;

typedef enum {
    CUPVA_AFFINITY_TYPE_INVALID = 0,
    CUPVA_VPU0 = 1,
    CUPVA_VPU1 = 2,
    CUPVA_VPU_ANY = 3,
    CUPVA_AFFINITY_TYPE_MAX = 4
} cupvaAffinityType_t;

typedef enum {
    CUPVA_GEN_TYPE_INVALID = 0,
    CUPVA_PVA_GEN1 = 1,
    CUPVA_PVA_GEN2 = 2, /* Orin */
    CUPVA_PVA_GEN3 = 3, /* Thor */
    CUPVA_GEN_TYPE_MAX = 4
} cupvaGenType_t;

typedef enum {
    CUPVA_ACCESS_TYPE_INVALID = 0,
    CUPVA_READ = 1,
    CUPVA_WRITE = 2,
    CUPVA_READ_WRITE = 3,
    CUPVA_ACCESS_TYPE_MAX = 4
} cupvaMemAccessType_t;

typedef enum {
    CUPVA_ALLOC_TYPE_INVALID = 0,
    CUPVA_ALLOC_DRAM = 1,
    CUPVA_ALLOC_CVSRAM = 2,
    CUPVA_ALLOC_TYPE_MAX = 3
} cupvaMemAllocType_t;

typedef enum {
    CUPVA_EXTERNAL_ALLOC_TYPE_INVALID = 0,
    CUPVA_EXTERNAL_ALLOC_TYPE_HOST = 1,
    CUPVA_EXTERNAL_ALLOC_TYPE_CUDA = 2,
    CUPVA_EXTERNAL_ALLOC_TYPE_MAX = 3
} cupvaExternalAllocType_t;

typedef enum {
    CUPVA_L2SRAM_POLICY_INVALID = 0,
    CUPVA_L2SRAM_POLICY_FILL = 1,
    CUPVA_L2SRAM_POLICY_FLUSH = 2,
    CUPVA_L2SRAM_POLICY_FILL_AND_FLUSH = 3,
    CUPVA_L2SRAM_POLICY_MAX = 4
} cupvaL2SRAMPolicyType_t;

typedef enum {
    CUPVA_L2_OPERATION_FLUSH = 0,
    CUPVA_L2_OPERATION_INVALIDATE = 1,
    CUPVA_L2_OPERATION_FLUSH_AND_INVALIDATE = 2,
    CUPVA_L2_OPERATION_MAX = 3
} cupvaL2OperationType_t;

typedef enum {
    CUPVA_SYNC_CLIENT_TYPE_INVALID = 0,
    CUPVA_SIGNALER = 1,
    CUPVA_WAITER = 2,
    CUPVA_SIGNALER_WAITER = 3,
    CUPVA_SYNC_CLIENT_TYPE_MAX = 4
} cupvaSyncClientType_t;

typedef enum {
    CUPVA_SYNC_WAIT_MODE_INVALID = 0,
    CUPVA_SYNC_YIELD = 1,
    CUPVA_SYNC_SPIN = 2,
    CUPVA_SYNC_WAIT_MODE_MAX = 3
} cupvaSyncWaitMode_t;

#define CUPVA_COMMAND_UNKNOWN 0xffffffffU
#define CUPVA_SUBMISSION_UNKNOWN 0xffffffffU
#define CUPVA_MAX_STREAM_NAME_LENGTH 64 /* with the NUL */

/* Health of the current context. Without an error the rest says nothing. */
typedef struct {
    cupvaError_t err;
    uint32_t stream; /* number of the stream, from 1 */
    uint32_t submissionsSinceError;
    uint32_t command;
    char const *streamName;
} cupvaStatus_t;

typedef struct cupvaContextRec *cupvaContext_t;
typedef struct cupvaCmdBufferRec *cupvaCmdBuffer_t;
typedef struct cupvaStreamRec *cupvaStream_t;
typedef struct cupvaSyncObjRec *cupvaSyncObj_t;
typedef struct cupvaCmdStatusRec *cupvaCmdStatus_t;

/* Values: they live in the program's memory. */
typedef struct {
    uint64_t data[6];
} cupvaFence_t;

typedef struct {
    uint64_t data[3];
} cupvaCmd_t;

typedef struct {
    uint32_t pvaEngineCount;
    uint32_t pvaVPUCount; /* of one engine */
    cupvaGenType_t pvaGen;
} cupvaHardwareInfo_t;

#ifdef __cplusplus
}
#endif

#endif
