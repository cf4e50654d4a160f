/* The private functions behind nvdla::IRuntime: the gate, then Python (abi/nvdla_runtime.py). */
#include "boot.h"
#include "nvdla_core.h"
#include "nvdla_shim.h"

#define GATE(name, parameters, arguments) \
    extern NvDlaError impl_##name parameters; \
    NvDlaError name parameters \
    { \
        return sim_enter() == 0 ? impl_##name arguments : NvDlaError_ResourceError; \
    }

GATE(sim__nvdla_create, (void **runtime), (runtime))
GATE(sim__nvdla_destroy, (void *runtime), (runtime))
GATE(sim__nvdla_cores, (uint16_t *count), (count))
GATE(sim__nvdla_emulator, (void *runtime, int on), (runtime, on))
GATE(sim__nvdla_load, (void *runtime, const uint8_t *image, uint32_t *memories),
     (runtime, image, memories))
GATE(sim__nvdla_memory, (void *runtime, uint32_t position, uint64_t *size, int *sram),
     (runtime, position, size, sram))
GATE(sim__nvdla_place, (void *runtime, uint32_t position, void *handle, void *data),
     (runtime, position, handle, data))
GATE(sim__nvdla_loaded, (void *runtime), (runtime))
GATE(sim__nvdla_unload, (void *runtime), (runtime))
GATE(sim__nvdla_freed, (void *runtime, void **handle, void **data, uint64_t *size),
     (runtime, handle, data, size))
GATE(sim__nvdla_bind,
     (void *runtime, int output, int index, void *handle, void *data, uint64_t size),
     (runtime, output, index, handle, data, size))
GATE(sim__nvdla_count, (void *runtime, int output, int *count), (runtime, output, count))
GATE(sim__nvdla_tensor, (void *runtime, int output, int index, void *tensor),
     (runtime, output, index, tensor))
GATE(sim__nvdla_set_tensor, (void *runtime, int output, int index, const void *tensor),
     (runtime, output, index, tensor))
GATE(sim__nvdla_begin, (void *runtime), (runtime))
GATE(sim__nvdla_next, (void *runtime, NvDlaTask *task, int *more), (runtime, task, more))

void sim__nvdla_explain(const char *text)
{
    sim_nvdla_explain("%s", text);
}
