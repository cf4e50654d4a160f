/*
 * dpu_debug.h - the complete state of a DPU, for debuggers.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_DEBUG_H
#define CUDLA_SIM_UPMEM_DPU_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct _dpu_context_info_t {
    uint32_t nr_threads;
    uint32_t nr_registers;
    uint32_t nr_atomic_bits;
    iram_size_t iram_size; /* instructions */
    mram_size_t mram_size; /* bytes */
    wram_size_t wram_size; /* words */
};

struct dpu_context_t {
    struct _dpu_context_info_t info;
    dpuinstruction_t *iram;
    uint8_t *mram;
    dpuword_t *wram;
    uint32_t *registers;
    iram_addr_t *pcs;
    bool *atomic_register;
    bool *zero_flags;
    bool *carry_flags;
    uint8_t nr_of_running_threads;
    uint8_t *scheduling;
    bool bkp_fault;
    bool dma_fault;
    bool mem_fault;
    dpu_thread_t bkp_fault_thread_index;
    dpu_thread_t dma_fault_thread_index;
    dpu_thread_t mem_fault_thread_index;
    uint32_t bkp_fault_id;
};

dpu_error_t dpu_extract_pcs_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
dpu_error_t dpu_extract_context_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
dpu_error_t dpu_restore_context_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
dpu_error_t dpu_initialize_fault_process_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context,
                                                 mram_addr_t error_store_addr);
dpu_error_t dpu_finalize_fault_process_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
dpu_error_t dpu_execute_thread_step_in_fault_for_dpu(struct dpu_t *dpu, dpu_thread_t thread,
                                                     struct dpu_context_t *context);
dpu_error_t dpu_set_debug_slice_info(struct dpu_rank_t *rank, uint32_t slice_id,
                                     uint64_t structure_value, uint64_t slice_target,
                                     dpu_bitfield_t host_mux_mram_state);
dpu_error_t dpu_restore_mux_context_for_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_save_context_for_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_restore_context_for_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_create_core_dump(struct dpu_rank_t *rank, const char *exe_path,
                                 const char *core_file_path, struct dpu_context_t *context,
                                 uint8_t *wram, uint8_t *mram, uint8_t *iram, uint32_t wram_size,
                                 uint32_t mram_size, uint32_t iram_size);
void dpu_free_dpu_context(struct dpu_context_t *context);
dpu_error_t dpu_context_fill_from_rank(struct dpu_context_t *context, struct dpu_rank_t *rank);
dpu_error_t dpu_pop_debug_context(struct dpu_t *dpu, struct dpu_context_t **debug_context);

#ifdef __cplusplus
}
#endif

#endif
