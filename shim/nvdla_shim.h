/* Between the NVDLA files of shim/ and the Python side (abi/nvdla*.py). */
#ifndef CUDLA_SIM_NVDLA_SHIM_H
#define CUDLA_SIM_NVDLA_SHIM_H

#include "cudla_sim.h"
#include "nvdla/nvdla_inf.h"

/* registers; a context of 0 is core 0 */
uint32_t impl_sim_reg_read(uintptr_t context, uint32_t address);
void impl_sim_reg_write(uintptr_t context, uint32_t address, uint32_t value);

/* keeps the explanation of this thread's failure */
void impl_sim_remember(const char *text);
void sim_nvdla_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* a task that runs outside Python: claim the core and resolve the address list; compute; give the
   core back. `config` gets the four fields of struct dla_config. */
NvDlaError impl_sim_nvdla_begin(void *device, const NvDlaTask *task, simNvdlaAddress *entries,
                                void **context, uint32_t *config);
int impl_sim_nvdla_advance(void *context, int *interrupt);
void impl_sim_nvdla_end(void *context);

/* an engine call of the built-in firmware over a foreign portability layer: see conversation.py.
   `fields`: kind, number of writes, three arguments, driver_context, task_data */
int impl_sim_engine_next(void *engine, uint64_t *fields, uint32_t *writes, void **data);
void impl_sim_engine_answer(void *engine, int64_t answer);
int32_t impl_sim_engine_result(void *engine);

/* the engine calls themselves; SIM_CONVERSE: go on with the functions above */
enum { SIM_CONVERSE = 1, SIM_COMPLETE = 2, SIM_MAX_WRITES = 256 };
int32_t impl_dla_execute_task(void *engine_context, void *task_data, void *config_data);
int32_t impl_dla_isr_handler(void *engine_context);
int32_t impl_dla_process_events(void *engine_context, uint32_t *task_complete);

NvDlaError impl_NvDlaSubmit(void *session_handle, void *device_handle, NvDlaTask *tasks,
                            NvU32 num_tasks);

/* interrupt handlers */
simStatus impl_simSetInterruptHandler(uint32_t core, simInterruptHandler handler, void *arg);
uint64_t impl_sim_nvdla_handler(uint32_t core);
int impl_sim_nvdla_wait(uint32_t core, uint64_t handler);

/* 1 when the program defines functions of that side itself */
int sim_nvdla_foreign_port(void);
int sim_nvdla_foreign_engine(void);

#endif
