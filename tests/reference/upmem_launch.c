/* Launches beside the host program: the state of DPUs, waiting for them, and callbacks. */
#include <dpu.h>
#include <dpu_runner.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

#define NR_DPUS 65 /* one more than a rank has */

enum { SUMS, SERVE, FAULT };

static atomic_uint calls, dpus_seen;

/* Called for each rank when it has done what was asked of it before. */
static dpu_error_t look(struct dpu_set_t rank, uint32_t rank_number, void *expected)
{
    struct dpu_set_t dpu;
    uint32_t launches;

    CHECK(rank_number < 2);
    DPU_FOREACH(rank, dpu) {
        DPU_ASSERT(dpu_copy_from(dpu, "launches", 0, &launches, sizeof launches));
        CHECK(launches == *(uint32_t *)expected);
        dpus_seen++;
    }
    calls++;
    return DPU_OK;
}

static volatile int ended;

static dpu_error_t slow(struct dpu_set_t rank, uint32_t rank_id, void *argument)
{
    (void)rank;
    (void)rank_id;
    (void)argument;
    usleep(50000);
    ended = 1;
    return DPU_OK;
}

/* dpu_status is a complete dpu_sync: the DPUs and what is queued behind them have ended. */
static void asked(struct dpu_set_t set, bool fails)
{
    bool done, fault;

    ended = 0;
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    if (!fails)
        DPU_ASSERT(dpu_callback(set, slow, NULL, DPU_CALLBACK_ASYNC));
    DPU_ASSERT(dpu_status(set, &done, &fault));
    CHECK(done && fault == fails && ended == !fails);
    DPU_ASSERT(dpu_sync(set));
}

int main(int argc, char **argv)
{
    struct dpu_set_t set;
    uint32_t mode = SERVE, once = 1, twice = 2;
    uint64_t active = 0;
    bool done, fault;

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc(NR_DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));

    /* The DPUs run until the host clears a variable, which only parallel transfers can do. */
    DPU_ASSERT(dpu_copy_to(set, "mode", 0, &mode, sizeof mode));
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    DPU_ASSERT(dpu_status_rank(set.list.ranks[0], &done, &fault));
    CHECK(!done && !fault);
    DPU_ASSERT(dpu_prepare_xfer(set, &active));
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "active", 0, sizeof active, DPU_XFER_PARALLEL));
    DPU_ASSERT(dpu_sync(set));
    DPU_ASSERT(dpu_status(set, &done, &fault));
    CHECK(done && !fault);

    DPU_ASSERT(dpu_callback(set, look, &once, DPU_CALLBACK_DEFAULT));
    CHECK(calls == 2 && dpus_seen == NR_DPUS);
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    DPU_ASSERT(dpu_callback(set, look, &twice, DPU_CALLBACK_ASYNC));
    DPU_ASSERT(dpu_sync(set));
    CHECK(calls == 4 && dpus_seen == 2 * NR_DPUS);
    CHECK(dpu_callback(set, look, &twice, DPU_CALLBACK_NONBLOCKING)
          == DPU_ERR_NONBLOCKING_SYNC_CALLBACK);

    /* A fault of an asynchronous launch is what dpu_sync answers. */
    mode = FAULT;
    DPU_ASSERT(dpu_copy_to(set, "mode", 0, &mode, sizeof mode));
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    CHECK((dpu_sync(set) & 0xffff) == DPU_ERR_DPU_FAULT);
    DPU_ASSERT(dpu_status(set, &done, &fault));
    CHECK(done && fault);
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    asked(set, false);
    DPU_ASSERT(dpu_copy_to(set, "mode", 0, &mode, sizeof mode));
    asked(set, true);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
