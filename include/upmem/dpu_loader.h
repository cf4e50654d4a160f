/*
 * dpu_loader.h - writing a program file into ranks and DPUs.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_LOADER_H
#define CUDLA_SIM_UPMEM_DPU_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "dpu_elf.h"
#include "dpu_error.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _dpu_loader_target_t {
    DPU_LOADER_TARGET_RANK = 0,
    DPU_LOADER_TARGET_DPU = 1
} dpu_loader_target_t;

struct _dpu_loader_env_t {
    dpu_loader_target_t target;
    union {
        struct dpu_rank_t *rank;
        struct dpu_t *dpu;
    };
};
typedef struct _dpu_loader_env_t *dpu_loader_env_t;

/* May change a piece of a program before it is written; anything but DPU_OK ends the load.
   Positions and sizes count instructions, words of 32 bits and bytes of MRAM. `init`: the first
   piece for this memory, by the counts of the context. */
typedef dpu_error_t (*mem_patch_function_t)(dpu_loader_env_t env, void *content,
                                            dpu_mem_max_addr_t address, dpu_mem_max_size_t size,
                                            bool init);

struct _dpu_loader_context_t {
    mem_patch_function_t patch_iram;
    mem_patch_function_t patch_wram;
    mem_patch_function_t patch_mram;
    uint32_t nr_of_instructions; /* loaded with this context so far */
    uint32_t nr_of_wram_words;
    uint32_t nr_of_mram_bytes;
    uint32_t dummy;
    struct _dpu_loader_env_t env;
};
typedef struct _dpu_loader_context_t *dpu_loader_context_t;

/* The functions that they set leave the pieces as they are; dpu_elf_load adds to the counts. */
void dpu_loader_fill_dpu_context(dpu_loader_context_t context, struct dpu_t *dpu);
void dpu_loader_fill_rank_context(dpu_loader_context_t context, struct dpu_rank_t *rank);
dpu_error_t dpu_elf_load(dpu_elf_file_t file, dpu_loader_context_t context);

#ifdef __cplusplus
}
#endif

#endif
