/*
 * Functions that libdpu.so exported up to release 2020.3 and later releases do not have.
 *
 * No other header includes this one: programs linked with the older library find the functions, a
 * program in source includes it itself. Copies work; the other functions look at registers or drive
 * the chip's interface, and answer that there is none.
 * Source: public headers of SDK 2020.3 (dpu_memory.h, dpu_debug.h, dpu_runner.h, dpu_config.h).
 */
#ifndef CUDLA_SIM_UPMEM_DPU_OLDER_RELEASES_H
#define CUDLA_SIM_UPMEM_DPU_OLDER_RELEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses are those of symbols: WRAM from 0, MRAM from 0x08000000. The functions for a matrix use
 * the buffers of dpu_prepare_xfer, and use them up. */
dpu_error_t dpu_copy_to_symbol_dpu(struct dpu_t *dpu, struct dpu_symbol_t symbol,
                                   uint32_t symbol_offset, const void *src, size_t length);
dpu_error_t dpu_copy_to_symbol_rank(struct dpu_rank_t *rank, struct dpu_symbol_t symbol,
                                    uint32_t symbol_offset, const void *src, size_t length);
dpu_error_t dpu_copy_to_symbol_matrix(struct dpu_rank_t *rank, struct dpu_symbol_t symbol,
                                      uint32_t symbol_offset, size_t length);
dpu_error_t dpu_copy_from_symbol_dpu(struct dpu_t *dpu, struct dpu_symbol_t symbol,
                                     uint32_t symbol_offset, void *dst, size_t length);
dpu_error_t dpu_copy_from_symbol_matrix(struct dpu_rank_t *rank, struct dpu_symbol_t symbol,
                                        uint32_t symbol_offset, size_t length);
dpu_error_t dpu_copy_to_address_dpu(struct dpu_t *dpu, dpu_mem_max_addr_t address,
                                    const void *src, dpu_mem_max_size_t length);
dpu_error_t dpu_copy_to_address_rank(struct dpu_rank_t *rank, dpu_mem_max_addr_t address,
                                     const void *src, dpu_mem_max_size_t length);
dpu_error_t dpu_copy_to_address_matrix(struct dpu_rank_t *rank, dpu_mem_max_addr_t address,
                                       dpu_mem_max_size_t length);
dpu_error_t dpu_copy_from_address_dpu(struct dpu_t *dpu, dpu_mem_max_addr_t address, void *dst,
                                      dpu_mem_max_size_t length);
dpu_error_t dpu_copy_from_address_matrix(struct dpu_rank_t *rank, dpu_mem_max_addr_t address,
                                         dpu_mem_max_size_t length);

/* dpu_debug.h; pid is a pid_t */
struct dpu_context_t;
dpu_error_t dpu_trigger_fault_on_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_trigger_fault_on_dpu(struct dpu_t *dpu);
dpu_error_t dpu_clear_fault_on_rank(struct dpu_rank_t *rank);
dpu_error_t dpu_clear_fault_on_dpu(struct dpu_t *dpu);
dpu_error_t dpu_resume_dpus_for_rank(struct dpu_rank_t *rank, struct dpu_context_t *context);
dpu_error_t dpu_resume_threads_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
dpu_error_t dpu_stop_dpus_for_rank(struct dpu_rank_t *rank, struct dpu_context_t *context);
dpu_error_t dpu_stop_threads_for_dpu(struct dpu_t *dpu, struct dpu_context_t *context);
dpu_error_t dpu_save_slice_context_and_extract_debug_info_from_pid_for_dpu(struct dpu_t *dpu,
                                                                           int pid);
dpu_error_t dpu_serialize_context(struct dpu_rank_t *rank, struct dpu_context_t *context,
                                  uint8_t **serialized_context,
                                  uint32_t *serialized_context_size);
dpu_error_t dpu_deserialize_context(struct dpu_rank_t *rank, struct dpu_context_t *context,
                                    uint8_t *serialized_context,
                                    uint32_t serialized_context_size);

/* dpu_runner.h */
dpu_error_t dpu_get_thread_status_on_rank(struct dpu_rank_t *rank, dpu_thread_t thread,
                                          dpu_bitfield_t *thread_is_running);
dpu_error_t dpu_get_thread_status_on_dpu(struct dpu_t *dpu, dpu_thread_t thread,
                                         bool *thread_is_running);
dpu_error_t dpu_get_and_update_notify_status_on_rank(struct dpu_rank_t *rank,
                                                     dpu_notify_bit_id_t notify_bit, bool value,
                                                     dpu_bitfield_t *notify_bit_was_set);
dpu_error_t dpu_get_and_update_notify_status_on_dpu(struct dpu_t *dpu,
                                                    dpu_notify_bit_id_t notify_bit, bool value,
                                                    bool *notify_bit_was_set);

/* dpu_config.h */
struct dpu_dma_config;
struct dpu_bit_config;
struct dpu_wavegen_config;
dpu_error_t dpu_dma_config(struct dpu_rank_t *rank, const struct dpu_dma_config *config);
dpu_error_t dpu_dma_shuffling_box_config(struct dpu_rank_t *rank,
                                         const struct dpu_bit_config *config);
dpu_error_t dpu_wavegen_config(struct dpu_rank_t *rank, const struct dpu_wavegen_config *config);
dpu_error_t dpu_wavegen_read_status(struct dpu_t *dpu, uint8_t address, uint8_t *value);
dpu_error_t dpu_switch_mux_for_dpu_line(struct dpu_rank_t *rank, uint8_t dpu_id, uint8_t mask);
dpu_error_t dpu_switch_mux_for_rank(struct dpu_rank_t *rank, bool set_mux_for_host);

#ifdef __cplusplus
}
#endif

#endif
