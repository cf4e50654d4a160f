/*
 * The driver above the engine, written by somebody else: NvDlaSubmit of this file calls the engine
 * functions (the simulator's), with a portability layer of its own (foreign_port.c).
 * JUMP=n: the first task is left by a longjmp out of the n-th register write, then run again.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cudla_sim.h"
#include "nvdla/dla_sched.h"
#include "nvdla/nvdla_inf.h"
#include "nvdla/nvdla_interface.h"

extern jmp_buf port_escape;
extern int port_jumps;

/* What the program's own NvDlaAllocMem gave: handles are pointers to these. */
struct memory {
    void *handle, *data;
    uint64_t size;
};
static struct memory memories[256];
static int used;

NvDlaError NvDlaAllocMem(void *session_handle, void *device_handle, void **mem_handle,
                         void **pData, NvU32 size, NvDlaHeap heap);

static void *engine;

static int run(const simNvdlaTask *task)
{
    struct dla_config config = {32, true, true, true};
    uint32_t complete = 0;
    int error = dla_execute_task(engine, (void *)task, &config);
    while (error == 0 && !complete) {
        int moved = 0, up = 0;
        if (simNvdlaStep(0, &moved, &up) != simSuccess) {
            return -1;
        }
        if (up) {
            dla_isr_handler(engine);
        }
        error = dla_process_events(engine, &complete);
    }
    dla_clear_task(engine);
    return error;
}

NvDlaError NvDlaSubmit(void *session_handle, void *device_handle, NvDlaTask *tasks,
                       NvU32 num_tasks)
{
    (void)session_handle;
    (void)device_handle;
    if (engine == NULL && dla_register_driver(&engine, &used) != 0) {
        return NvDlaError_IoctlFailed;
    }
    for (NvU32 t = 0; t < num_tasks; t++) {
        static simNvdlaAddress list[NVDLA_MAX_BUFFERS_PER_TASK];
        for (NvU32 i = 0; i < tasks[t].num_addresses; i++) {
            const struct memory *m = tasks[t].address_list[i].handle;
            list[i] = (simNvdlaAddress){m->data, m->size, tasks[t].address_list[i].offset};
        }
        simNvdlaTask task = {tasks[t].num_addresses, list};
        const char *wish = getenv("JUMP");
        if (wish != NULL) {
            port_jumps = atoi(wish);
            if (setjmp(port_escape) == 0) {
                run(&task);
            } else {
                fprintf(stderr, "jumped\n");
            }
            port_jumps = 0;
            unsetenv("JUMP");
            dla_clear_task(engine);
            simNvdlaReset(0);
        }
        if (run(&task) != 0) {
            return NvDlaError_IoctlFailed;
        }
    }
    return NvDlaSuccess;
}

/* Memory still comes from the simulator, but under handles of ours. */
#include <dlfcn.h>

NvDlaError NvDlaAllocMem(void *session_handle, void *device_handle, void **mem_handle,
                         void **pData, NvU32 size, NvDlaHeap heap)
{
    NvDlaError (*real)(void *, void *, void **, void **, NvU32, NvDlaHeap) =
        (NvDlaError (*)(void *, void *, void **, void **, NvU32, NvDlaHeap))dlsym(RTLD_NEXT,
                                                                               "NvDlaAllocMem");
    struct memory *m = &memories[used++];
    NvDlaError error = real(session_handle, device_handle, &m->handle, &m->data, size, heap);
    m->size = size;
    *mem_handle = m;
    *pData = m->data;
    return error;
}

NvDlaError NvDlaFreeMem(void *session_handle, void *device_handle, void *mem_handle, void *pData,
                        NvU32 size)
{
    NvDlaError (*real)(void *, void *, void *, void *, NvU32) =
        (NvDlaError (*)(void *, void *, void *, void *, NvU32))dlsym(RTLD_NEXT, "NvDlaFreeMem");
    struct memory *m = mem_handle;
    return real(session_handle, device_handle, m->handle, pData, size);
}
