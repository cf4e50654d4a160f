/* Copies between the host and variables of DPUs, by name and by symbol. */
#include <dpu.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define NR_DPUS 3
#define WORDS 32
#define TASKLETS 4

int main(int argc, char **argv)
{
    static uint64_t data[NR_DPUS][WORDS], back[NR_DPUS][WORDS], sums[NR_DPUS][TASKLETS];
    struct dpu_set_t set, dpu;
    struct dpu_program_t *program;
    struct dpu_symbol_t input, result, factor;
    uint32_t index, number = 10;

    CHECK(argc > 1);
    DPU_ASSERT(dpu_alloc(NR_DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], &program));
    DPU_ASSERT(dpu_get_symbol(program, "input", &input));
    DPU_ASSERT(dpu_get_symbol(program, "sums", &result));
    DPU_ASSERT(dpu_get_symbol(program, "factor", &factor));

    /* Each DPU gets words of its own. */
    DPU_FOREACH(set, dpu, index) {
        for (int i = 0; i < WORDS; i++)
            data[index][i] = 100 * index + 1;
        DPU_ASSERT(dpu_prepare_xfer(dpu, data[index]));
    }
    DPU_ASSERT(dpu_push_xfer_symbol(set, DPU_XFER_TO_DPU, input, 0, sizeof data[0],
                                    DPU_XFER_DEFAULT));
    DPU_ASSERT(dpu_copy_to(set, "factor", 0, &number, sizeof number));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_prepare_xfer(dpu, sums[index]));
    }
    DPU_ASSERT(dpu_push_xfer_symbol(set, DPU_XFER_FROM_DPU, result, 0, sizeof sums[0],
                                    DPU_XFER_DEFAULT));
    for (index = 0; index < NR_DPUS; index++)
        for (int t = 0; t < TASKLETS; t++)
            CHECK(sums[index][t] == 10 * 8 * (100 * index + 1));

    /* All DPUs get the same; offsets count bytes of the variable. */
    const uint64_t pair[2] = { 7, 8 };
    DPU_ASSERT(dpu_broadcast_to_symbol(set, input, 16, pair, sizeof pair, DPU_XFER_DEFAULT));
    number = 2;
    DPU_ASSERT(dpu_copy_to_symbol(set, factor, 0, &number, sizeof number));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu, index) {
        uint64_t sum;
        DPU_ASSERT(dpu_copy_from_symbol(dpu, result, 0, &sum, sizeof sum));
        CHECK(sum == 2 * (6 * data[index][0] + 7 + 8));
        DPU_ASSERT(dpu_copy_from_symbol(dpu, input, 0, back[index], sizeof back[index]));
        CHECK(back[index][1] == data[index][1] && back[index][3] == 8);
        CHECK(memcmp(&back[index][4], &data[index][4], sizeof(uint64_t[WORDS - 4])) == 0);
    }

    /* Only one DPU can be copied from, and nothing past the end of a variable. */
    CHECK(dpu_copy_from_symbol(set, factor, 0, &number, sizeof number)
          == DPU_ERR_INVALID_DPU_SET);
    CHECK(dpu_copy_to_symbol(set, factor, 4, &number, sizeof number)
          == DPU_ERR_INVALID_SYMBOL_ACCESS);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
