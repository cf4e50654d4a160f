/* The host's copy of a FIFO's read and write positions, and FIFOs of whole ranks. */
#include <dpu.h>
#include <dpu_fifo.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <stdint.h>

#include "check.h"

#define ROOM 4 /* elements of the input FIFO */

static void positions(struct dpu_fifo_rank_t *fifo, struct dpu_rank_t *rank)
{
    struct dpu_t *first = dpu_get(rank, 0, 0), *second = dpu_get(rank, 1, 0);

    bool empty = is_fifo_empty(fifo, second);
    CHECK(empty);
    set_fifo_rd_ptr(fifo, second, 6);
    set_fifo_wr_ptr(fifo, second, 9);
    empty = is_fifo_empty(fifo, second);
    bool full = is_fifo_full(fifo, second);
    CHECK(!empty && !full);

    /* Positions never go back; the place of an element is what the ring leaves of them. */
    uint64_t read = get_fifo_abs_rd_ptr(fifo, second);
    uint64_t written = get_fifo_abs_wr_ptr(fifo, second);
    CHECK(read == 6 && written == 9);
    uint8_t read_place = get_fifo_rd_ptr(fifo, second);
    uint8_t write_place = get_fifo_wr_ptr(fifo, second);
    CHECK(read_place == 6 % ROOM && write_place == 9 % ROOM);

    /* These two are for all DPUs of the rank. */
    incr_fifo_wr_ptr(fifo);
    uint64_t written_first = get_fifo_abs_wr_ptr(fifo, first);
    written = get_fifo_abs_wr_ptr(fifo, second);
    CHECK(written_first == 1 && written == 10);
    full = is_fifo_full(fifo, second);
    CHECK(full);
    uint16_t most = get_fifo_max_size(rank, fifo);
    CHECK(most == ROOM);
    swap_fifo_rd_wr_ptr(fifo);
    CHECK(get_fifo_abs_rd_ptr(fifo, second) == 10 && get_fifo_abs_wr_ptr(fifo, second) == 6);
    CHECK(get_fifo_abs_rd_ptr(fifo, first) == 1 && get_fifo_abs_wr_ptr(fifo, first) == 0);
}

int main(int argc, char **argv)
{
    struct dpu_transfer_matrix matrix = { .type = DPU_DEFAULT_XFER_MATRIX };
    struct dpu_fifo_link_t input, output;
    struct dpu_set_t set;
    uint64_t pair[2] = { 6, 7 }, products[8] = { 0 };
    uint32_t serve = 1;

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_ASSERT(dpu_link_input_fifo(set, &input, "input_fifo"));
    DPU_ASSERT(dpu_link_output_fifo(set, &output, "output_fifo"));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *dpu = dpu_get(rank, 0, 0);
    struct dpu_fifo_rank_t *in = get_rank_fifo(&input, rank);
    struct dpu_fifo_rank_t *out = get_rank_fifo(&output, rank);
    CHECK(in == &input.rank_fifos[0]);
    CHECK(in->dpu_fifo_ptr_size == 2 && in->dpu_fifo_data_size == sizeof pair);
    positions(in, rank);

    /* One element for one DPU, which takes it in the next launch. */
    dpu_transfer_matrix_add_dpu(dpu, &matrix, pair);
    DPU_ASSERT(dpu_copy_to_wram_fifo(rank, in, &matrix));
    DPU_ASSERT(dpu_copy_to(set, "mode", 0, &serve, sizeof serve));
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    dpu_transfer_matrix_add_dpu(dpu, &matrix, products);
    do {
        DPU_ASSERT(dpu_copy_from_wram_fifo(rank, out, &matrix));
    } while (get_fifo_max_size(rank, out) == 0);
    CHECK(products[0] == 42);
    CHECK(get_fifo_size(&output, dpu_set_from_dpu(dpu)) == 1);
    CHECK(get_fifo_size(&output, dpu_set_from_dpu(dpu_get(rank, 1, 0))) == 0);

    uint64_t active = 0;
    DPU_ASSERT(dpu_prepare_xfer(set, &active));
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "active", 0, sizeof active, DPU_XFER_PARALLEL));
    DPU_ASSERT(dpu_sync(set));

    /* Nobody takes anything now. The host learns the positions before each element. */
    dpu_transfer_matrix_add_dpu(dpu, &matrix, pair);
    in->max_retries = 2;
    for (int i = 0; i < ROOM; i++) {
        DPU_ASSERT(dpu_copy_to_wram_fifo(rank, in, &matrix));
        CHECK(get_fifo_size(&input, dpu_set_from_dpu(dpu)) == i);
    }
    CHECK(dpu_copy_to_wram_fifo(rank, in, &matrix) == DPU_ERR_WRAM_FIFO_FULL);
    bool full = is_fifo_full(in, dpu);
    CHECK(full);
    DPU_ASSERT(dpu_fifo_link_free(&input));
    DPU_ASSERT(dpu_fifo_link_free(&output));
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
