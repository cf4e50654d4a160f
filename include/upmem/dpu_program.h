/*
 * dpu_program.h - a loaded program, shared by the DPUs that run it.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_PROGRAM_H
#define CUDLA_SIM_UPMEM_DPU_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "dpu_elf.h"
#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dpu_program_t {
    uint8_t nr_threads_enabled;
    int32_t printf_buffer_address;
    int32_t printf_buffer_size; /* bytes */
    int32_t printf_write_pointer_address;
    int32_t printf_buffer_has_wrapped_address;
    dpu_elf_symbols_t *symbols;
    int32_t mcount_address;
    int32_t ret_mcount_address;
    int32_t thread_profiling_address;
    int32_t perfcounter_end_value_address;
    dpu_elf_symbols_t *profiling_symbols;
    int32_t open_print_sequence_addr;
    int32_t close_print_sequence_addr;
    int32_t reference_count;
    char *program_path;
};

/* Owners of a program: starts with none, one more, one less (the last frees it). */
void dpu_init_program_ref(struct dpu_program_t *program);
void dpu_take_program_ref(struct dpu_program_t *program);
void dpu_free_program(struct dpu_program_t *program);

struct dpu_program_t *dpu_get_program(struct dpu_t *dpu);
void dpu_set_program(struct dpu_t *dpu, struct dpu_program_t *program);

dpu_error_t dpu_load_elf_program_from_memory(dpu_elf_file_t *elf_info, const char *path,
                                             uint8_t *buffer_start, size_t buffer_size,
                                             struct dpu_program_t *program,
                                             mram_size_t mram_size_hint);
dpu_error_t dpu_load_elf_program(dpu_elf_file_t *elf_info, const char *path,
                                 struct dpu_program_t *program, mram_size_t mram_size_hint);

/* The program of all DPUs of a set; an error when they differ. */
dpu_error_t dpu_get_common_program(struct dpu_set_t *dpu_set, struct dpu_program_t **program);

#ifdef __cplusplus
}
#endif

#endif
