/*
 * Loading with functions of the program that may change each piece before it is written
 * (dpu_loader.h). Python has the pieces and decides what to call; the calls are made here, because
 * functions of the program never run below a Python frame.
 */
#include <stddef.h>
#include <stdint.h>

#include "boot.h"
#include "dpu_loader.h"
#include "generated/hand_written.h"

/* A piece as abi/upmem/pieces.py hands it over, in words of 64 bits. */
struct piece {
    uint64_t function, env, content, address, size, init;
    int64_t answer;
};

static void change(void *argument)
{
    struct piece *piece = argument;
    mem_patch_function_t function = (mem_patch_function_t)(uintptr_t)piece->function;
    piece->answer = function((dpu_loader_env_t)(uintptr_t)piece->env,
                             (void *)(uintptr_t)piece->content, (dpu_mem_max_addr_t)piece->address,
                             (dpu_mem_max_size_t)piece->size, piece->init != 0);
}

/* Those of the SDK patch for its profiler and write CLOCKS_PER_SEC. Nothing is profiled here, and
   every load writes the clock; programs may call what they replace. */
static dpu_error_t unchanged(dpu_loader_env_t env, void *content, dpu_mem_max_addr_t address,
                             dpu_mem_max_size_t size, bool init)
{
    (void)env;
    (void)content;
    (void)address;
    (void)size;
    (void)init;
    return DPU_OK;
}

static void set_functions(dpu_loader_context_t context)
{
    if (context != NULL) {
        context->patch_iram = unchanged;
        context->patch_wram = unchanged;
    }
}

SIM_EXPORT void dpu_loader_fill_rank_context(dpu_loader_context_t context, struct dpu_rank_t *rank)
{
    if (sim_enter() == 0) {
        impl_dpu_loader_fill_rank_context(context, rank);
        set_functions(context);
    }
}

SIM_EXPORT void dpu_loader_fill_dpu_context(dpu_loader_context_t context, struct dpu_t *dpu)
{
    if (sim_enter() == 0) {
        impl_dpu_loader_fill_dpu_context(context, dpu);
        set_functions(context);
    }
}

/* What impl_dpu_elf_load gets instead of a context. */
struct loading {
    dpu_loader_context_t context;
    void (*change)(void *piece);
    mem_patch_function_t unchanged;
};

SIM_EXPORT dpu_error_t dpu_elf_load(dpu_elf_file_t file, dpu_loader_context_t context)
{
    struct loading loading = {context, change, unchanged};
    if (sim_enter() != 0) {
        return DPU_ERR_INTERNAL;
    }
    return impl_dpu_elf_load(file, (dpu_loader_context_t)&loading);
}
