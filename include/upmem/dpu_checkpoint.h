/*
 * dpu_checkpoint.h - saving the state of a DPU and bringing it back.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_CHECKPOINT_H
#define CUDLA_SIM_UPMEM_DPU_CHECKPOINT_H

#include <stdint.h>

#include "dpu_debug.h"
#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _dpu_checkpoint_flags_t {
    DPU_CHECKPOINT_NONE = 0,
    DPU_CHECKPOINT_INTERNAL = 1,
    DPU_CHECKPOINT_IRAM = 2,
    DPU_CHECKPOINT_MRAM = 8,
    DPU_CHECKPOINT_WRAM = 0x10,
    DPU_CHECKPOINT_ALL = 0x1b
} dpu_checkpoint_flags_t;

/* Of a set of one DPU. Free what save and deserialize fill with dpu_checkpoint_free. */
dpu_error_t dpu_checkpoint_save(struct dpu_set_t set, dpu_checkpoint_flags_t flags,
                                struct dpu_context_t *context);
dpu_error_t dpu_checkpoint_restore(struct dpu_set_t set, dpu_checkpoint_flags_t flags,
                                   struct dpu_context_t *context);
uint32_t dpu_checkpoint_get_serialized_context_size(struct dpu_context_t *context);
dpu_error_t dpu_checkpoint_serialize(struct dpu_context_t *context, uint8_t **serialized_context,
                                     uint32_t *serialized_context_size);
dpu_error_t dpu_checkpoint_deserialize(const uint8_t *serialized_context,
                                       uint32_t serialized_context_size,
                                       struct dpu_context_t *context);
dpu_error_t dpu_checkpoint_free(struct dpu_context_t *context);

#ifdef __cplusplus
}
#endif

#endif
