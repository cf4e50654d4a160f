/* A debugger: stops a DPU that runs, looks at it, steps, changes it and lets it go on. The second
   argument is upmem_isa.S, assembled. */
#include <dpu.h>
#include <dpu_debug.h>
#include <dpu_management.h>
#include <stdint.h>

#include "check.h"

#define IRAM 0x80000000u
#define THREAD 0

static iram_addr_t label(struct dpu_program_t *program, const char *name)
{
    struct dpu_symbol_t symbol;

    DPU_ASSERT(dpu_get_symbol(program, name, &symbol));
    return (symbol.address - IRAM) / sizeof(dpuinstruction_t);
}

/* Steps of one thread until it is before that instruction. */
static void step_to(struct dpu_t *dpu, iram_addr_t where, struct dpu_context_t *context)
{
    for (int steps = 0; context->pcs[THREAD] != where; steps++) {
        CHECK(steps < 10);
        DPU_ASSERT(dpu_execute_thread_step_in_fault_for_dpu(dpu, THREAD, context));
    }
}

/* What the SDK's debugger does around its work; a simulated rank has nothing to be put aside. */
static void put_aside(struct dpu_rank_t *rank, struct dpu_t *dpu)
{
    struct dpu_context_t *left;

    DPU_ASSERT(dpu_save_context_for_rank(rank));
    DPU_ASSERT(dpu_set_debug_slice_info(rank, 0, 0, 0, 0));
    DPU_ASSERT(dpu_restore_mux_context_for_rank(rank));
    DPU_ASSERT(dpu_restore_context_for_rank(rank));
    DPU_ASSERT(dpu_pop_debug_context(dpu, &left));
    CHECK(left == NULL);
}

int main(int argc, char **argv)
{
    struct dpu_context_t context;
    struct dpu_set_t set, dpu_set;
    struct dpu_program_t *program;
    struct dpu_t *dpu = NULL;
    uint32_t held = 1, sum;

    CHECK(argc > 2);
    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[2], &program));
    DPU_FOREACH(set, dpu_set)
        dpu = dpu_from_set(dpu_set);
    struct dpu_rank_t *rank = dpu_get_rank(dpu);
    DPU_ASSERT(dpu_context_fill_from_rank(&context, rank));
    CHECK(context.info.nr_threads == 24 && context.info.nr_registers == 24);
    put_aside(rank, dpu);

    /* The program waits in its first two instructions as long as `held` is not 0. */
    DPU_ASSERT(dpu_copy_to(set, "held", 0, &held, sizeof held));
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    DPU_ASSERT(dpu_initialize_fault_process_for_dpu(dpu, &context, 0));
    CHECK(context.nr_of_running_threads == 1 && context.scheduling[THREAD] == 0);
    DPU_ASSERT(dpu_extract_pcs_for_dpu(dpu, &context));
    CHECK(context.pcs[THREAD] <= 1);
    step_to(dpu, 0, &context);
    step_to(dpu, 1, &context);
    DPU_ASSERT(dpu_extract_context_for_dpu(dpu, &context));
    CHECK(context.registers[2] == 1);

    /* Register 2 is what it looks at: with 0 it leaves the loop, and adds up 5 + 4 + ... + 1. */
    context.registers[2] = 0;
    DPU_ASSERT(dpu_restore_context_for_dpu(dpu, &context));
    step_to(dpu, label(program, "again"), &context);
    DPU_ASSERT(dpu_extract_context_for_dpu(dpu, &context));
    CHECK(context.registers[0] == 5 && context.registers[1] == 0);
    context.registers[1] = 100;
    DPU_ASSERT(dpu_restore_context_for_dpu(dpu, &context));

    DPU_ASSERT(dpu_finalize_fault_process_for_dpu(dpu, &context));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_copy_from(dpu_set, "sum", 0, &sum, sizeof sum));
    CHECK(sum == 115);
    dpu_free_dpu_context(&context);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
