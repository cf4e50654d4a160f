/* Host side: gives each DPU its own buffer, runs all, reads what each found and what it printed. */
#include <dpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "checksum.h"

#define NR_DPUS 4

int main(int argc, char **argv)
{
    static uint8_t buffers[NR_DPUS][BUFFER_BYTES];
    uint32_t expected[NR_DPUS] = { 0 }, found[NR_DPUS], index;
    struct dpu_set_t set, dpu;
    int wrong = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: %s dpu-program\n", argv[0]);
        return 2;
    }
    srand(1);
    for (int d = 0; d < NR_DPUS; d++)
        for (int i = 0; i < BUFFER_BYTES; i++)
            expected[d] += buffers[d][i] = (uint8_t)rand();

    DPU_ASSERT(dpu_alloc(NR_DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_prepare_xfer(dpu, buffers[index]));
    }
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "buffer", 0, BUFFER_BYTES, DPU_XFER_DEFAULT));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu, index) {
        DPU_ASSERT(dpu_copy_from(dpu, "checksum", 0, &found[index], sizeof found[index]));
        DPU_ASSERT(dpu_log_read(dpu, stdout));
        if (found[index] != expected[index]) {
            printf("DPU %u: 0x%08x instead of 0x%08x\n", index, found[index], expected[index]);
            wrong = 1;
        }
    }
    DPU_ASSERT(dpu_free(set));
    printf("checksum: %s\n", wrong ? "WRONG" : "all as expected");
    return wrong;
}
