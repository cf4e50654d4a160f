/* FIFOs in WRAM: while the DPUs run, each gets pairs of numbers and answers with products. */
#include <dpu.h>
#include <dpu_fifo.h>
#include <stdint.h>

#include "check.h"

#define NR_DPUS 3
#define PAIRS 20
#define ROOM 8 /* elements of the output FIFO */

static uint64_t pairs[NR_DPUS][2], products[NR_DPUS][ROOM], seen[NR_DPUS];

/* Empties the output FIFOs; how many products came out of them. */
static uint32_t drain(struct dpu_set_t set, struct dpu_fifo_link_t *output)
{
    struct dpu_set_t dpu;
    uint32_t index, found = 0;

    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_fifo_prepare_xfer(dpu, output, products[index]));
    }
    DPU_ASSERT(dpu_fifo_push_xfer(set, output, DPU_XFER_DEFAULT));
    DPU_FOREACH(set, dpu, index) {
        uint16_t size = get_fifo_size(output, dpu);
        CHECK(size <= ROOM);
        found += size;
        for (uint8_t i = 0; i < size; i++) {
            uint8_t place = get_fifo_elem_index(output, dpu, i);
            CHECK(place == seen[index] % ROOM);
            uint8_t *element = get_fifo_elem(output, dpu, (uint8_t *)products[index], i);
            CHECK(element == (uint8_t *)&products[index][place]);
            CHECK(*(uint64_t *)element == (index + 1) * seen[index]);
            seen[index]++;
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    struct dpu_set_t set, dpu;
    struct dpu_fifo_link_t input, output;
    uint32_t index, found = 0, serve = 1;
    uint64_t active = 0;

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc(NR_DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_ASSERT(dpu_link_input_fifo(set, &input, "input_fifo"));
    DPU_ASSERT(dpu_link_output_fifo(set, &output, "output_fifo"));
    CHECK(dpu_link_input_fifo(set, &input, "sums") == DPU_ERR_UNKNOWN_SYMBOL);

    /* A push into a full FIFO waits for the DPU to take something: so many times, so long. */
    dpu_fifo_set_push_max_retries(&input, set, 500);
    dpu_fifo_set_time_for_push_retries(&input, set, 20);
    CHECK(input.rank_fifos[0].max_retries == 500 && input.rank_fifos[0].time_for_retry == 20);

    DPU_ASSERT(dpu_copy_to(set, "mode", 0, &serve, sizeof serve));
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    for (uint64_t n = 0; n < PAIRS; n++) {
        DPU_FOREACH(set, dpu, index) {
            pairs[index][0] = index + 1;
            pairs[index][1] = n;
            DPU_ASSERT(dpu_fifo_prepare_xfer(dpu, &input, pairs[index]));
        }
        DPU_ASSERT(dpu_fifo_push_xfer(set, &input, DPU_XFER_DEFAULT));
        found += drain(set, &output);
    }
    while (found < NR_DPUS * PAIRS)
        found += drain(set, &output);

    DPU_ASSERT(dpu_prepare_xfer(set, &active));
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "active", 0, sizeof active, DPU_XFER_PARALLEL));
    DPU_ASSERT(dpu_sync(set));
    for (index = 0; index < NR_DPUS; index++)
        CHECK(seen[index] == PAIRS);
    DPU_ASSERT(dpu_fifo_link_free(&input));
    DPU_ASSERT(dpu_fifo_link_free(&output));
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
