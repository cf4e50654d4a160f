/* 64 DPUs add up what they are sent; SWEEP_DPU names the program. */
#include "sweep.h"

#include <dpu.h>

static int scenario(void)
{
    struct dpu_set_t set, dpu;
    uint32_t sent[64], got[64], index;
    int allocated = 0;
    memset(got, 0, sizeof got);
    TRY(dpu_alloc(64, NULL, &set));
    allocated = GOOD;
    if (GOOD)
        TRY(dpu_load(set, getenv("SWEEP_DPU"), NULL));
    if (GOOD) {
        DPU_FOREACH(set, dpu, index) {
            sent[index] = index * 3;
            TRY(dpu_prepare_xfer(dpu, &sent[index]));
        }
    }
    if (GOOD)
        TRY(dpu_push_xfer(set, DPU_XFER_TO_DPU, "value", 0, 4, DPU_XFER_DEFAULT));
    if (GOOD)
        TRY(dpu_launch(set, DPU_SYNCHRONOUS));
    if (GOOD) {
        DPU_FOREACH(set, dpu, index) {
            TRY(dpu_prepare_xfer(dpu, &got[index]));
        }
    }
    if (GOOD)
        TRY(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "value", 0, 4, DPU_XFER_DEFAULT));
    int wrong = 0;
    for (uint32_t i = 0; i < 64 && GOOD; i++)
        wrong += got[i] != i * 3 + 1;
    if (allocated)
        TRY(dpu_free(set));
    return wrong ? WRONG : first_status;
}
