/*
 * The private ABI between the C of shim/ and the Python of pyimpl/cudla_sim/abi, once.
 * build_ffi.py reads this file as it reads the public headers:
 *
 *   impl_NAME    Python defines it, C calls it;
 *   sim__NAME    a gate: C calls it, it starts Python and calls impl_sim__NAME, which Python
 *                defines (body generated into shim/generated/exports.c);
 *   other names  C defines it, Python calls it.
 */
#ifndef CUDLA_SIM_INTERNAL_H
#define CUDLA_SIM_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cudla.h"
#include "cudlaExternalEtbl.hpp"
#include "cudla_sim.h"
#include "nvdla/nvdla_inf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- life of the process (boot.c, stdio.c) --------------------------------------------------- */

void impl_sim_at_exit(void);
/* gives the function impl_NAME its handler; its first call asks for it. 0 when it has one. */
int impl_sim_attach(const char *name);
int sim_started_python(void);
void sim_write(int to_stderr, const char *text, size_t size);
size_t sim_stream_write(FILE *stream, const char *text, size_t size);

/* --- cuDLA's external table (etbl.c) --------------------------------------------------------- */

cudlaStatus impl_etiTranslateStats(cudlaDevHandle devHandle, unsigned char *input,
                                   uint32_t dlaFreqMHz, uint32_t idx,
                                   cudlaTranslateAttributeType csvAttrType,
                                   cudlaTranslateCsvAttribute *csvAttribute);
cudlaStatus impl_etiTranslateStatsForMultiModule(cudlaDevHandle devHandle, cudlaModule hModule,
                                                 unsigned char *input, uint32_t dlaFreqMHz,
                                                 uint32_t idx,
                                                 cudlaTranslateAttributeType csvAttrType,
                                                 cudlaTranslateCsvAttribute *csvAttribute);
const cudlaExternalEtbl *sim_external_table(void);

/* --- CUDA (cuda/launches.c, cuda/kernels.c, cuda/private_tables.c) ---------------------------
   Statuses are a cudaError_t or a CUresult, streams a cudaStream_t. */

/* puts a launch into its stream */
int sim__cuda_launch(void *stream, void *launch, const char *kernel);
/* a __device__, __constant__ or __managed__ variable of the program */
int sim__cuda_variable(void *address, size_t size);
/* a launch that was refused in C; answers `error` */
int sim__cuda_refuse(int error, const char *explanation);
/* runs a launch; the error of it with its explanation, or 0; drops it */
void sim_cuda_run(void *launch);
int sim_cuda_failed(void *launch, char *text, size_t size);
void sim_cuda_free(void *launch);
/* whether the program registered a kernel at that address, and it is compiled for this processor */
int sim_cuda_kernel_known(void *function);
/* bytes of dynamic shared memory that a kernel may have from now on; `allow` -1 asks, the answer
   -1 is: never said */
int sim_cuda_shared(void *function, int allow);

/* what NVIDIA's static runtime asks of the driver: a function of a private table that is not here;
   the 16 bytes by which it knows a driver, from the addresses of two tables and of the function
   that asks */
int sim__cuda_private(void);
int sim__cuda_integrity(uint32_t version, uint64_t seconds, void *digest,
                        const uint64_t *addresses);
/* the calling thread's context; the end of a context */
void sim_cuda_make_current(void *context);
void sim_cuda_context_ends(void *context);

/* --- NVDLA: registers and tasks that run outside Python (nvdla/port.c, nvdla/engine.c) ------- */

/* a context of 0 is core 0 */
uint32_t impl_sim_reg_read(uintptr_t context, uint32_t address);
void impl_sim_reg_write(uintptr_t context, uint32_t address, uint32_t value);

/* keeps the explanation of this thread's failure */
void impl_sim_remember(const char *text);

/* claim the core and resolve the address list; compute; give the core back. `config` gets the four
   fields of struct dla_config. */
NvDlaError impl_sim_nvdla_begin(void *device, const NvDlaTask *task, simNvdlaAddress *entries,
                                void **context, uint32_t *config);
int impl_sim_nvdla_advance(void *context, int *interrupt);
void impl_sim_nvdla_end(void *context);

/* an engine call of the built-in firmware over a foreign portability layer: see conversation.py.
   `fields`: kind, number of writes, three arguments, driver_context, task_data */
enum { SIM_CONVERSE = 1, SIM_COMPLETE = 2, SIM_MAX_WRITES = 256 };
int impl_sim_engine_next(void *engine, uint64_t *fields, uint32_t *writes, void **data);
void impl_sim_engine_answer(void *engine, int64_t answer);
int32_t impl_sim_engine_result(void *engine);

/* interrupt handlers (nvdla/irq.c) */
uint64_t impl_sim_nvdla_handler(uint32_t core);
int impl_sim_nvdla_wait(uint32_t core, uint64_t handler);

/* 1 when the program defines that side of the portability layer itself */
int sim_nvdla_foreign_port(void);
int sim_nvdla_foreign_engine(void);

/* --- nvdla::IRuntime (nvdla/runtime.cpp) ----------------------------------------------------- */

/* `output` is 0 for inputs and 1 for outputs; `tensor` points to an IRuntime::NvDlaTensor. */
NvDlaError sim__nvdla_create(void **runtime);
NvDlaError sim__nvdla_destroy(void *runtime);
NvDlaError sim__nvdla_cores(uint16_t *count);
NvDlaError sim__nvdla_emulator(void *runtime, int on);

/* loading: memories to allocate come one by one from ..._memory, then ..._loaded */
NvDlaError sim__nvdla_load(void *runtime, const uint8_t *image, uint32_t *memories);
NvDlaError sim__nvdla_memory(void *runtime, uint32_t position, uint64_t *size, int *sram);
NvDlaError sim__nvdla_place(void *runtime, uint32_t position, void *handle, void *data);
NvDlaError sim__nvdla_loaded(void *runtime);
/* unloading: memories to free come one by one; *handle is NULL after the last */
NvDlaError sim__nvdla_unload(void *runtime);
NvDlaError sim__nvdla_freed(void *runtime, void **handle, void **data, uint64_t *size);

NvDlaError sim__nvdla_bind(void *runtime, int output, int index, void *handle, void *data,
                           uint64_t size);
NvDlaError sim__nvdla_count(void *runtime, int output, int *count);
NvDlaError sim__nvdla_tensor(void *runtime, int output, int index, void *tensor);
NvDlaError sim__nvdla_set_tensor(void *runtime, int output, int index, const void *tensor);

/* submission: ..._next runs software tasks and fills in the next hardware task, *more says whether
   there was one */
NvDlaError sim__nvdla_begin(void *runtime);
NvDlaError sim__nvdla_next(void *runtime, NvDlaTask *task, int *more);

/* --- UPMEM calls that are answered without Python (upmem/fast.c) ----------------------------- */

/* An enabled DPU: what dpu_prepare_xfer sets, and the jobs that are queued on its rank. */
struct sim_dpu_fast_member {
    uint64_t handle, buffer; /* buffer: address of a uint64_t */
    uint64_t words;          /* address of its rank's words (native/dpu_turn.h) */
    uint64_t slot;
};

/* A set, or one rank of it, as dpu_set_t names it, and its DPUs among the members. */
struct sim_dpu_fast_set {
    uint64_t ranks, first_member;
    uint32_t rank_count, member_count;
};

/* `base`: of the DPUs' memory; `loads`: grows when a DPU gets another program; `transfer` and `token`:
   sim_dpu_transfer and sim_dpu_token of native/native.h. */
void sim_dpu_fast_enable(int on);
int sim_dpu_fast_tables(const struct sim_dpu_fast_member *members, size_t member_count,
                        const struct sim_dpu_fast_set *sets, size_t set_count, uint64_t base,
                        const uint64_t *loads, void *transfer, void *token);

/*
 * A symbol of the program that all DPUs of a set hold: its bytes in their slots, from `first` to
 * before `end`, and what copies must be multiples of (upmem/spans.py). It counts until programs or
 * sets change.
 */
void sim_dpu_fast_learn(uint64_t ranks, uint32_t rank_count, const char *name, uint64_t first,
                        uint64_t end, uint32_t unit);

#ifdef __cplusplus
}
#endif

#endif
