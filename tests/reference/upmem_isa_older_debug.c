/* Debugging with the functions of SDK 2020.3 and before. The second argument is upmem_isa.S,
   assembled. */
#include <dpu.h>
#include <dpu_debug.h>
#include <dpu_management.h>
#include <dpu_older_releases.h>
#include <stdint.h>

#include "check.h"

int main(int argc, char **argv)
{
    struct dpu_context_t context, again;
    struct dpu_set_t set;
    uint32_t held = 1, size, sum;
    uint8_t *bytes = NULL;
    bool running;

    CHECK(argc > 2);
    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[2], NULL));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *dpu = dpu_get(rank, 0, 0);
    DPU_ASSERT(dpu_context_fill_from_rank(&context, rank));

    DPU_ASSERT(dpu_copy_to(set, "held", 0, &held, sizeof held));
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    DPU_ASSERT(dpu_trigger_fault_on_dpu(dpu));
    DPU_ASSERT(dpu_get_thread_status_on_dpu(dpu, 0, &running));
    CHECK(running);
    DPU_ASSERT(dpu_get_thread_status_on_dpu(dpu, 1, &running));
    CHECK(!running);
    DPU_ASSERT(dpu_stop_threads_for_dpu(dpu, &context));
    CHECK(context.nr_of_running_threads == 1 && context.pcs[0] <= 1);
    DPU_ASSERT(dpu_clear_fault_on_dpu(dpu));

    /* The caller frees the bytes. */
    DPU_ASSERT(dpu_serialize_context(rank, &context, &bytes, &size));
    DPU_ASSERT(dpu_deserialize_context(rank, &again, bytes, size));
    free(bytes);
    CHECK(again.nr_of_running_threads == 1 && again.pcs[0] == context.pcs[0]);

    held = 0;
    DPU_ASSERT(dpu_copy_to(set, "held", 0, &held, sizeof held));
    DPU_ASSERT(dpu_resume_threads_for_dpu(dpu, &again));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_copy_from(dpu_set_from_dpu(dpu), "sum", 0, &sum, sizeof sum));
    CHECK(sum == 15);
    dpu_free_dpu_context(&context);
    dpu_free_dpu_context(&again);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
