/*
 * dpu_profiler.h - profiling of DPU programs.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_PROFILER_H
#define CUDLA_SIM_UPMEM_DPU_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

#include "dpu_elf.h"
#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dpu_profiling_type_e {
    DPU_PROFILING_NOP = 0,
    DPU_PROFILING_MCOUNT = 1,
    DPU_PROFILING_STATS = 2,
    DPU_PROFILING_SAMPLES = 3,
    DPU_PROFILING_SECTIONS = 4
} dpu_profiling_type_e;

struct _dpu_profiling_context_t;
typedef struct _dpu_profiling_context_t *dpu_profiling_context_t;

dpu_error_t dpu_fill_profiling_info(struct dpu_rank_t *rank, iram_addr_t mcount_address,
                                    iram_addr_t ret_mcount_address,
                                    wram_addr_t thread_profiling_address,
                                    wram_addr_t perfcounter_end_value_address,
                                    dpu_elf_symbols_t *profiling_symbols);
dpu_error_t dpu_patch_profiling_for_dpu(struct dpu_t *dpu, dpuinstruction_t *source,
                                        uint32_t address, uint32_t size, bool init);
void dpu_collect_statistics_profiling(struct dpu_t *dpu, uint8_t nr_threads,
                                      const uint32_t *profiled_address);
void dpu_collect_samples_profiling(struct dpu_t *dpu, iram_addr_t profiled_address);
void dpu_dump_statistics_profiling(struct dpu_t *dpu, uint8_t nr_threads);
void dpu_dump_samples_profiling(struct dpu_t *dpu);
dpu_error_t dpu_set_magic_profiling_for_dpu(struct dpu_t *dpu);
void dpu_dump_section_profiling(struct dpu_t *dpu, uint8_t nr_threads, const char *section_name,
                                const dpuword_t *section_info, uint32_t perfcounter_end_value);
dpu_profiling_context_t dpu_get_profiling_context(struct dpu_rank_t *rank);

#ifdef __cplusplus
}
#endif

#endif
