/*
 * Both sides of the NVDLA kernel-mode driver as callers of each other.
 *
 * - The engine functions (dla_execute_task, ...) are the built-in firmware. Over the simulator's own
 *   portability layer it runs in one call of Python. Over a foreign one the calling thread performs
 *   what the firmware needs, here, with no Python frame below it: a foreign function may throw, jump
 *   away or call us. The firmware's thread waits meanwhile and is dismissed if we never come back.
 * - NvDlaSubmit is the driver above the engine. When either side is foreign it calls the engine by
 *   its exported names, so that the program's own definitions are heard.
 *
 * Compiled with -fexceptions: a C++ exception that passes through gives the core back on its way.
 */
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "nvdla/dla_sched.h"
#include "nvdla/nvdla_interface.h"
#include "generated/hand_written.h"
#include "shared.h"

enum { NO_PYTHON = -1 };
enum kind { RETURN, NOTHING, REG_READ, DATA_READ, DATA_WRITE, DMA_ADDRESS, TIME };

/* --- the built-in firmware -------------------------------------------------------------------- */

/* Performs what the firmware asks for until its call returns. */
static int32_t converse(void *engine)
{
    for (;;) {
        uint64_t fields[7];
        uint32_t writes[2 * SIM_MAX_WRITES];
        void *data = NULL;
        if (impl_sim_engine_next(engine, fields, writes, &data) != 0) {
            return NO_PYTHON;
        }
        void *context = (void *)(uintptr_t)fields[5];
        void *task = (void *)(uintptr_t)fields[6];
        for (uint64_t i = 0; i < fields[1]; i++) {
            dla_reg_write(context, writes[2 * i], writes[2 * i + 1]);
        }
        int64_t answer = 0;
        switch ((enum kind)fields[0]) {
        case RETURN:
            return impl_sim_engine_result(engine);
        case NOTHING:
            break;
        case REG_READ:
            answer = dla_reg_read(context, (uint32_t)fields[2]);
            break;
        case DATA_READ:
            answer = dla_data_read(context, task, fields[2], data, (uint32_t)fields[3], fields[4]);
            break;
        case DATA_WRITE:
            answer = dla_data_write(context, task, data, fields[2], (uint32_t)fields[3], fields[4]);
            break;
        case DMA_ADDRESS:
            answer = dla_get_dma_address(context, task, (int16_t)fields[2], data,
                                         (uint32_t)fields[3]);
            break;
        case TIME:
            answer = dla_get_time_us();
            break;
        }
        impl_sim_engine_answer(engine, answer);
    }
}

SIM_EXPORT int32_t dla_execute_task(void *engine_context, void *task_data, void *config_data)
{
    if (sim_enter() != 0) {
        return NO_PYTHON;
    }
    int32_t result = impl_dla_execute_task(engine_context, task_data, config_data);
    return result == SIM_CONVERSE ? converse(engine_context) : result;
}

SIM_EXPORT int32_t dla_isr_handler(void *engine_context)
{
    if (sim_enter() != 0) {
        return NO_PYTHON;
    }
    int32_t result = impl_dla_isr_handler(engine_context);
    return result == SIM_CONVERSE ? converse(engine_context) : result;
}

SIM_EXPORT int32_t dla_process_events(void *engine_context, uint32_t *task_complete)
{
    if (sim_enter() != 0) {
        return NO_PYTHON;
    }
    int32_t result = impl_dla_process_events(engine_context, task_complete);
    if (result == SIM_CONVERSE) {
        result = converse(engine_context);
    }
    if (result == SIM_COMPLETE) {
        *task_complete = 1;
        result = 0;
    }
    return result;
}

/* --- the driver above an engine --------------------------------------------------------------- */

#define OWN(name) \
    extern __typeof(name) own_##name __attribute__((alias(#name), visibility("hidden")))
OWN(dla_execute_task);
OWN(dla_isr_handler);
OWN(dla_process_events);

static int differ(void *volatile exported, void *volatile own)
{
    return exported != own;
}

int sim_nvdla_foreign_engine(void)
{
    return differ((void *)dla_execute_task, (void *)own_dla_execute_task) ||
           differ((void *)dla_isr_handler, (void *)own_dla_isr_handler) ||
           differ((void *)dla_process_events, (void *)own_dla_process_events);
}

/* The engine that was registered last; the core's claim protects it. */
static void *engine;
static void *engine_driver;
static int engine_dirty; /* a task may be in it */

struct run {
    void *context;
    simNvdlaAddress *entries;
};

static void give_back(struct run *run)
{
    if (run->context != NULL) {
        impl_sim_nvdla_end(run->context);
    }
    free(run->entries);
}

static NvDlaError refused(const char *function, int32_t error)
{
    sim_nvdla_explain("NvDlaSubmit: the firmware's %s returned %d", function, (int)error);
    return NvDlaError_IoctlFailed;
}

/* Serves interrupts until the task is complete. */
static NvDlaError serve(void *context)
{
    uint32_t complete = 0;
    for (int idle = 0; idle < 4;) {
        int up = 0;
        int moved = impl_sim_nvdla_advance(context, &up);
        if (moved < 0) {
            return NvDlaError_IoctlFailed; /* the model has explained */
        }
        if (up) {
            dla_isr_handler(engine);
        }
        int32_t error = dla_process_events(engine, &complete);
        if (error != 0) {
            return refused("dla_process_events", error);
        }
        if (complete) {
            return NvDlaSuccess;
        }
        idle = moved || up ? 0 : idle + 1;
    }
    sim_nvdla_explain("NvDlaSubmit: the task does not end: nothing runs in the hardware, and the "
                      "firmware waits");
    return NvDlaError_IoctlFailed;
}

static NvDlaError run_task(void *device, const NvDlaTask *task)
{
    __attribute__((cleanup(give_back))) struct run run = {NULL, NULL};
    uint32_t fields[4];
    uint32_t count = task->num_addresses < NVDLA_MAX_BUFFERS_PER_TASK ? task->num_addresses
                                                                      : NVDLA_MAX_BUFFERS_PER_TASK;
    run.entries = calloc(count + 1, sizeof *run.entries);
    if (run.entries == NULL) {
        return NvDlaError_InsufficientMemory;
    }
    NvDlaError status = impl_sim_nvdla_begin(device, task, run.entries, &run.context, fields);
    if (status != NvDlaSuccess) {
        return status;
    }
    if (engine_driver != run.context) {
        int32_t error = dla_register_driver(&engine, run.context);
        if (error != 0) {
            return refused("dla_register_driver", error);
        }
        engine_driver = run.context;
        engine_dirty = 1;
    }
    if (engine_dirty) {
        dla_clear_task(engine);
    }
    engine_dirty = 1;
    simNvdlaTask data = {count, run.entries};
    struct dla_config config = {fields[0], fields[1], fields[2], fields[3]};
    int32_t error = dla_execute_task(engine, &data, &config);
    status = error != 0 ? refused("dla_execute_task", error) : serve(run.context);
    dla_clear_task(engine);
    engine_dirty = 0;
    return status;
}

SIM_EXPORT NvDlaError NvDlaSubmit(void *session_handle, void *device_handle, NvDlaTask *tasks,
                                  NvU32 num_tasks)
{
    if (sim_enter() != 0) {
        return NvDlaError_ResourceError;
    }
    if (tasks == NULL || !(sim_nvdla_foreign_engine() || sim_nvdla_foreign_port())) {
        return impl_NvDlaSubmit(session_handle, device_handle, tasks, num_tasks);
    }
    for (NvU32 i = 0; i < num_tasks; i++) {
        NvDlaError status = run_task(device_handle, &tasks[i]);
        if (status != NvDlaSuccess) {
            return status;
        }
    }
    return NvDlaSuccess;
}
