/* A checkpoint of a DPU that runs, as bytes, and another DPU that goes on from there. The second
   argument is upmem_isa.S, assembled. */
#include <dpu.h>
#include <dpu_checkpoint.h>
#include <dpu_debug.h>
#include <dpu_management.h>
#include <stdint.h>

#include "check.h"

int main(int argc, char **argv)
{
    struct dpu_context_t saved, again;
    struct dpu_set_t set, dpu, pair[2];
    uint32_t index, held = 1, count = 10, free_again = 0, sum, size;
    uint8_t *bytes = NULL;

    CHECK(argc > 2);
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[2], NULL));
    DPU_FOREACH(set, dpu, index)
        pair[index] = dpu;

    /* The first DPU runs until it is saved, which stops it; the second one has never run. */
    DPU_ASSERT(dpu_copy_to(pair[0], "held", 0, &held, sizeof held));
    DPU_ASSERT(dpu_copy_to(pair[0], "count", 0, &count, sizeof count));
    DPU_ASSERT(dpu_launch(pair[0], DPU_ASYNCHRONOUS));
    DPU_ASSERT(dpu_checkpoint_save(pair[0], DPU_CHECKPOINT_ALL, &saved));
    CHECK(saved.nr_of_running_threads == 1 && saved.pcs[0] <= 1);

    /* Bytes can be kept in a file. The caller frees them. */
    uint32_t announced = dpu_checkpoint_get_serialized_context_size(&saved);
    DPU_ASSERT(dpu_checkpoint_serialize(&saved, &bytes, &size));
    CHECK(size == announced && size > saved.info.mram_size);
    DPU_ASSERT(dpu_checkpoint_free(&saved));
    DPU_ASSERT(dpu_checkpoint_deserialize(bytes, size, &again));
    CHECK(again.nr_of_running_threads == 1 && again.info.nr_threads == 24);
    CHECK(dpu_checkpoint_deserialize(bytes, 16, &saved) != DPU_OK);
    free(bytes);

    DPU_ASSERT(dpu_checkpoint_restore(pair[1], DPU_CHECKPOINT_ALL, &again));
    DPU_ASSERT(dpu_copy_to(pair[1], "held", 0, &free_again, sizeof free_again));
    DPU_ASSERT(dpu_finalize_fault_process_for_dpu(dpu_from_set(pair[1]), &again));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_copy_from(pair[1], "sum", 0, &sum, sizeof sum));
    CHECK(sum == 55);

    /* The first one is where it was. */
    DPU_ASSERT(dpu_copy_from(pair[0], "sum", 0, &sum, sizeof sum));
    CHECK(sum == 0);
    DPU_ASSERT(dpu_checkpoint_free(&again));
    CHECK(dpu_checkpoint_save(set, DPU_CHECKPOINT_ALL, &saved) == DPU_ERR_INVALID_DPU_SET);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
