/* What nvdla_runtime.cpp uses of the Python side: the brain of nvdla::IRuntime. */
#ifndef CUDLA_SIM_NVDLA_CORE_H
#define CUDLA_SIM_NVDLA_CORE_H

#include <stdint.h>

#include "nvdla/nvdla_inf.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* keeps an explanation for simExplain */
void sim__nvdla_explain(const char *text);

#ifdef __cplusplus
}
#endif

#endif
