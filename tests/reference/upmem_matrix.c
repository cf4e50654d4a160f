/* Transfer matrices: a host buffer for each DPU of a rank, copied all at once. */
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_memory.h>
#include <dpu_transfer_matrix.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define NR_DPUS MAX_NR_DPUS_PER_RANK
#define WORDS 4

static uint32_t data[NR_DPUS][WORDS], back[NR_DPUS][WORDS], same[WORDS];

static void round_trips(struct dpu_rank_t *rank, struct dpu_transfer_matrix *to,
                        struct dpu_transfer_matrix *from)
{
    /* MRAM: bytes. */
    to->offset = from->offset = 4096;
    to->size = from->size = sizeof data[0];
    DPU_ASSERT(dpu_copy_to_mrams(rank, to));
    DPU_ASSERT(dpu_copy_from_mrams(rank, from));
    CHECK(memcmp(back, data, sizeof data) == 0);

    /* WRAM: words. */
    memset(back, 0, sizeof back);
    to->offset = from->offset = 100;
    to->size = from->size = WORDS;
    DPU_ASSERT(dpu_copy_to_wram_for_matrix(rank, to));
    DPU_ASSERT(dpu_copy_from_wram_for_matrix(rank, from));
    CHECK(memcmp(back, data, sizeof data) == 0);
}

/* In a matrix of scatter/gather blocks the caller makes the room for them. */
static void blocks_of(struct dpu_t *dpu)
{
    struct dpu_transfer_matrix matrix = { .type = DPU_SG_XFER_MATRIX };
    uint8_t *places[2];
    uint32_t lengths[2];
    struct sg_xfer_buffer room = { 2, places, lengths, 0 };

    dpu_transfer_matrix_add_dpu(dpu, &matrix, &room);
    DPU_ASSERT(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, data[1], 8));
    DPU_ASSERT(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, data[2], 16));
    CHECK(room.nr_blocks == 2);
    CHECK(places[0] == (uint8_t *)data[1] && lengths[0] == 8);
    CHECK(places[1] == (uint8_t *)data[2] && lengths[1] == 16);
    CHECK(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, data[3], 8) == DPU_ERR_INTERNAL);
    CHECK(room.nr_blocks == 2);

    /* What cannot be written is refused. */
    room.max_nr_blocks = 3;
    room.blocks_addr = NULL;
    CHECK(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, data[3], 8) != DPU_OK);
    room.blocks_addr = places;
    room.blocks_length = (uint32_t *)16;
    CHECK(dpu_transfer_matrix_add_dpu_block(dpu, &matrix, data[3], 8) != DPU_OK);
    CHECK(room.nr_blocks == 2);

    /* Other matrices hold buffers, which are not to be taken for a sg_xfer_buffer. */
    struct dpu_transfer_matrix buffers = { .type = DPU_DEFAULT_XFER_MATRIX };
    memset(back, 0xff, sizeof back);
    dpu_transfer_matrix_add_dpu(dpu, &buffers, back);
    CHECK(dpu_transfer_matrix_add_dpu_block(dpu, &buffers, data[1], 8) == DPU_ERR_INTERNAL);
    CHECK(back[0][0] == UINT32_MAX && back[0][3] == UINT32_MAX);
}

/* A set of some DPUs of a rank: the others of the rank are disabled. */
static void disabled(void)
{
    struct dpu_transfer_matrix matrix;
    struct dpu_set_t set;

    DPU_ASSERT(dpu_alloc(1, NULL, &set));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *first = dpu_get(rank, 0, 0), *second = dpu_get(rank, 0, 1);
    memset(&matrix, 0xff, sizeof matrix);
    dpu_transfer_matrix_set_all(rank, &matrix, same);
    int buffers = 0;
    for (int i = 0; i < NR_DPUS; i++)
        buffers += matrix.ptr[i] != NULL;
    CHECK(buffers == 1 && dpu_transfer_matrix_get_ptr(first, &matrix) == same);
    dpu_transfer_matrix_add_dpu(second, &matrix, same);
    void *of_second = dpu_transfer_matrix_get_ptr(second, &matrix);
    CHECK(of_second == NULL);
    DPU_ASSERT(dpu_free(set));
}

int main(void)
{
    struct dpu_transfer_matrix to = { .offset = 0 }, from = { .offset = 0 }, copy;
    struct dpu_set_t set;
    struct dpu_t *dpu;
    uint32_t index;

    DPU_ASSERT(dpu_alloc_ranks(1, NULL, &set));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    STRUCT_DPU_FOREACH(rank, dpu, index) {
        for (uint32_t i = 0; i < WORDS; i++)
            data[index][i] = 10 * index + i;
        dpu_transfer_matrix_add_dpu(dpu, &to, data[index]);
        dpu_transfer_matrix_add_dpu(dpu, &from, back[index]);
    }
    round_trips(rank, &to, &from);

    /* Members of one number are neighbours in a matrix: the member times eight, plus the slice. */
    for (dpu_slice_id_t slice = 0; slice < 8; slice++) {
        for (dpu_member_id_t member = 0; member < 8; member++)
            CHECK(from.ptr[member * 8 + slice] == back[slice * 8 + member]);
    }

    /* A DPU without a buffer is left out. */
    struct dpu_t *first = dpu_get(rank, 0, 0), *third = dpu_get(rank, 0, 2);
    dpu_transfer_matrix_copy(&copy, &from);
    dpu_transfer_matrix_clear_dpu(third, &copy);
    void *of_first = dpu_transfer_matrix_get_ptr(first, &copy);
    void *of_third = dpu_transfer_matrix_get_ptr(third, &copy);
    CHECK(of_first == back[0] && of_third == NULL);
    memset(back, 0, sizeof back);
    DPU_ASSERT(dpu_copy_from_wram_for_matrix(rank, &copy));
    CHECK(back[1][1] == 11 && back[2][1] == 0 && back[63][1] == 631);

    /* All DPUs share one buffer. */
    same[0] = 77;
    dpu_transfer_matrix_set_all(rank, &to, same);
    DPU_ASSERT(dpu_copy_to_wram_for_matrix(rank, &to));
    DPU_ASSERT(dpu_copy_from_wram_for_matrix(rank, &from));
    CHECK(back[0][0] == 77 && back[2][0] == 77 && back[63][0] == 77 && back[63][1] == 0);

    to.type = DPU_SG_XFER_MATRIX;
    dpu_transfer_matrix_clear_all(rank, &to);
    of_first = dpu_transfer_matrix_get_ptr(first, &to);
    CHECK(of_first == NULL);
    CHECK(to.offset == 0 && to.size == 0 && to.type == DPU_DEFAULT_XFER_MATRIX);

    blocks_of(first);
    disabled();
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
