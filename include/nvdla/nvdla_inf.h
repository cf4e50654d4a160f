/*
 * nvdla_inf.h - the portability layer below the user-mode driver: sessions, devices, memory, tasks.
 *
 * Both sides may be foreign: a user-mode driver calls these functions of the simulator, and a
 * program that defines them itself gets the calls of the simulator's nvdla::IRuntime.
 */
#ifndef _NVDLA_INF_H_
#define _NVDLA_INF_H_

#include "dlaerror.h"
#include "dlatypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NVDLA_MAX_BUFFERS_PER_TASK (6144)

/* One entry of a task's address list: memory from NvDlaAllocMem and a byte offset in it. */
struct NvDlaMemDescRec {
    void *handle;
    NvU32 offset;
};
typedef struct NvDlaMemDescRec NvDlaMemDesc;

/* One hardware task. Entry 0 of the address list is the network descriptor. */
struct NvDlaTaskRec {
    NvU64 task_id;
    NvU32 num_addresses;
    NvDlaMemDesc address_list[NVDLA_MAX_BUFFERS_PER_TASK];
};
typedef struct NvDlaTaskRec NvDlaTask;

typedef enum NvDlaHeap {
    NvDlaHeap_System = 0,
    NvDlaHeap_SRAM = 1
} NvDlaHeap;

/* Opens and closes a session. All functions below also take NULL for the session. */
NvDlaError NvDlaInitialize(void **session_handle);
void NvDlaDestroy(void *session_handle);

/* Opens core number `instance`, and closes it. */
NvDlaError NvDlaOpen(void *session_handle, NvU32 instance, void **device_handle);
void NvDlaClose(void *device_handle);

/* Runs tasks one after the other; returns when the last one is complete or one has failed. */
NvDlaError NvDlaSubmit(void *session_handle, void *device_handle, NvDlaTask *tasks,
                       NvU32 num_tasks);

/* Memory that the engine reaches, zero-filled. In the simulator *pData is also the bus address. */
NvDlaError NvDlaAllocMem(void *session_handle, void *device_handle, void **mem_handle,
                         void **pData, NvU32 size, NvDlaHeap heap);
NvDlaError NvDlaFreeMem(void *session_handle, void *device_handle, void *mem_handle, void *pData,
                        NvU32 size);

#ifdef __cplusplus
}
#endif

/* The software manual spells some names in other ways. */
#define NvDLAInitialize NvDlaInitialize
#define NvDLaInitialize NvDlaInitialize
#define NvDLaOpen NvDlaOpen
#define NvDLAAllocMem NvDlaAllocMem
#define NvDLaFreeMem NvDlaFreeMem
#define NvDLATask NvDlaTask
#define NvDLAMemDesc NvDlaMemDesc
#define NvDLAHeap NvDlaHeap

#endif
