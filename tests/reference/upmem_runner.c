/* Starting single ranks and DPUs, asking how they are, and resetting them. */
#include <dpu.h>
#include <dpu_config.h>
#include <dpu_custom.h>
#include <dpu_management.h>
#include <dpu_runner.h>
#include <stdint.h>

#include "check.h"

enum { SUMS, SERVE, FAULT };

static uint32_t launches_of(struct dpu_t *dpu)
{
    uint32_t launches;
    DPU_ASSERT(dpu_copy_from(dpu_set_from_dpu(dpu), "launches", 0, &launches, sizeof launches));
    return launches;
}

static void set_mode(struct dpu_set_t set, uint32_t mode)
{
    DPU_ASSERT(dpu_copy_to(set, "mode", 0, &mode, sizeof mode));
}

/* Commands tell the backend what happens; nothing is to be done here. */
static void commands(void)
{
    struct dpu_set_t one;

    DPU_ASSERT(dpu_alloc(1, NULL, &one));
    struct dpu_rank_t *rank = dpu_rank_from_set(one);
    for (int command = DPU_COMMAND_DPU_SOFT_RESET; command <= DPU_COMMAND_SET_SLICE_INFO; command++) {
        DPU_ASSERT(dpu_custom_for_rank(rank, (dpu_custom_command_t)command, NULL));
        DPU_ASSERT(dpu_custom_for_dpu(dpu_get(rank, 0, 0), (dpu_custom_command_t)command, NULL));
    }
    CHECK(dpu_custom_for_dpu(dpu_get(rank, 0, 1), DPU_COMMAND_DPU_PREEXECUTION, NULL)
          == DPU_ERR_DPU_DISABLED);
    DPU_ASSERT(dpu_free(one));
}

int main(int argc, char **argv)
{
    struct dpu_set_t set;
    bool done, fault, running;
    uint64_t active = 0;

    CHECK(argc > 1);
    commands();
    DPU_ASSERT(dpu_alloc_ranks(1, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *first = dpu_get(rank, 0, 0), *second = dpu_get(rank, 0, 1);

    /* They run until the host clears `active`; who starts them does not wait. */
    set_mode(set, SERVE);
    DPU_ASSERT(dpu_boot_rank(rank));
    DPU_ASSERT(dpu_status_rank(rank, &done, &fault));
    CHECK(!done && !fault);
    DPU_ASSERT(dpu_poll_rank(rank));
    DPU_ASSERT(dpu_poll_dpu(first, &running, &fault));
    CHECK(running && !fault);
    CHECK(dpu_boot_rank(rank) == DPU_ERR_DPU_ALREADY_RUNNING);
    DPU_ASSERT(dpu_prepare_xfer(set, &active));
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "active", 0, sizeof active, DPU_XFER_PARALLEL));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_status_dpu(first, &done, &fault));
    CHECK(done && !fault);

    set_mode(set, SUMS);
    DPU_ASSERT(dpu_boot_dpu(first));
    DPU_ASSERT(dpu_sync(set));
    CHECK(launches_of(first) == 2 && launches_of(second) == 1);

    /* All other threads are started by the first one of the program. */
    DPU_ASSERT(dpu_launch_thread_on_dpu(first, DPU_BOOT_THREAD, false));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_launch_thread_on_rank(rank, DPU_BOOT_THREAD, false));
    DPU_ASSERT(dpu_sync(set));
    CHECK(launches_of(first) == 4 && launches_of(second) == 2);

    /* A fault is that of one DPU, and of its rank. */
    set_mode(dpu_set_from_dpu(first), FAULT);
    DPU_ASSERT(dpu_boot_rank(rank));
    CHECK((dpu_sync(set) & 0xffff) == DPU_ERR_DPU_FAULT);
    DPU_ASSERT(dpu_poll_dpu(first, &running, &fault));
    CHECK(!running && fault);
    DPU_ASSERT(dpu_status_dpu(second, &done, &fault));
    CHECK(done && !fault);
    DPU_ASSERT(dpu_status_rank(rank, &done, &fault));
    CHECK(done && fault);

    /* A reset ends the fault; the program has to be loaded again. */
    DPU_ASSERT(dpu_reset_dpu(first));
    DPU_ASSERT(dpu_status_rank(rank, &done, &fault));
    CHECK(done && !fault);
    CHECK(launches_of(second) == 3);
    DPU_ASSERT(dpu_reset_rank(rank));
    CHECK(dpu_launch(set, DPU_SYNCHRONOUS) == DPU_ERR_NO_PROGRAM_LOADED);
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    CHECK(launches_of(first) == 1 && launches_of(second) == 1);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
