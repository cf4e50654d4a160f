/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_memory_operations.h - values in memory that streams wait for and write; part of cuda.h.
 */
#ifndef __CUDA_CRT_DRIVER_MEMORY_OPERATIONS_H__
#define __CUDA_CRT_DRIVER_MEMORY_OPERATIONS_H__

#include "nameless_unions.h"

typedef uint32_t cuuint32_t;

/* Greater or equal, as the difference of numbers that wrap around; equal; a bit in common; not all bits set. */
typedef enum CUstreamWaitValue_flags_enum {
    CU_STREAM_WAIT_VALUE_GEQ = 0x0,
    CU_STREAM_WAIT_VALUE_EQ = 0x1,
    CU_STREAM_WAIT_VALUE_AND = 0x2,
    CU_STREAM_WAIT_VALUE_NOR = 0x3,
    CU_STREAM_WAIT_VALUE_FLUSH = 0x40000000
} CUstreamWaitValue_flags;

typedef enum CUstreamWriteValue_flags_enum {
    CU_STREAM_WRITE_VALUE_DEFAULT = 0x0,
    CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 0x1
} CUstreamWriteValue_flags;

typedef enum CUstreamMemoryBarrier_flags_enum {
    CU_STREAM_MEMORY_BARRIER_TYPE_SYS = 0x0,
    CU_STREAM_MEMORY_BARRIER_TYPE_GPU = 0x1
} CUstreamMemoryBarrier_flags;

typedef enum CUstreamBatchMemOpType_enum {
    CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
    CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
    CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
    CU_STREAM_MEM_OP_BARRIER = 6
} CUstreamBatchMemOpType;

typedef struct CUstreamMemOpWaitValueParams_st {
    CUstreamBatchMemOpType operation;
    CUdeviceptr address;
    CUDLA_SIM_NAMELESS union {
        cuuint32_t value;
        cuuint64_t value64;
    };
    unsigned int flags;
    CUdeviceptr alias; /* nothing is looked up there */
} CUstreamMemOpWaitValueParams;

typedef struct CUstreamMemOpWriteValueParams_st {
    CUstreamBatchMemOpType operation;
    CUdeviceptr address;
    CUDLA_SIM_NAMELESS union {
        cuuint32_t value;
        cuuint64_t value64;
    };
    unsigned int flags;
    CUdeviceptr alias;
} CUstreamMemOpWriteValueParams;

typedef struct CUstreamMemOpFlushRemoteWritesParams_st {
    CUstreamBatchMemOpType operation;
    unsigned int flags;
} CUstreamMemOpFlushRemoteWritesParams;

typedef struct CUstreamMemOpMemoryBarrierParams_st {
    CUstreamBatchMemOpType operation;
    unsigned int flags;
} CUstreamMemOpMemoryBarrierParams;

typedef union CUstreamBatchMemOpParams_union {
    CUstreamBatchMemOpType operation;
    CUstreamMemOpWaitValueParams waitValue;
    CUstreamMemOpWriteValueParams writeValue;
    CUstreamMemOpFlushRemoteWritesParams flushRemoteWrites;
    CUstreamMemOpMemoryBarrierParams memoryBarrier;
    cuuint64_t pad[6];
} CUstreamBatchMemOpParams_v1;
typedef CUstreamBatchMemOpParams_v1 CUstreamBatchMemOpParams;

#define cuStreamWaitValue32 cuStreamWaitValue32_v2
#define cuStreamWaitValue64 cuStreamWaitValue64_v2
#define cuStreamWriteValue32 cuStreamWriteValue32_v2
#define cuStreamWriteValue64 cuStreamWriteValue64_v2
#define cuStreamBatchMemOp cuStreamBatchMemOp_v2

/* The address is of memory that the device can reach, a multiple of the value's size. */
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
/* One after the other; flags is 0. */
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                               unsigned int flags);

#endif /* __CUDA_CRT_DRIVER_MEMORY_OPERATIONS_H__ */
