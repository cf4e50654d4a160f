/* Launches a program on one DPU N times and looks at each result: `dpu PROGRAM N`. */
#include <dpu.h>

#include "figures.h"

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    long launches = atol(words[2]);
    struct dpu_set_t set;
    CHECK(dpu_alloc(1, NULL, &set));
    CHECK(dpu_load(set, words[1], NULL));
    double begin = load_now();
    for (long i = 0; i < launches; i++) {
        uint64_t given = (uint64_t)i, got = 0;
        CHECK(dpu_broadcast_to(set, "given", 0, &given, sizeof given, DPU_XFER_DEFAULT));
        CHECK(dpu_launch(set, DPU_SYNCHRONOUS));
        struct dpu_set_t dpu;
        DPU_FOREACH (set, dpu)
            CHECK(dpu_copy_from(dpu, "squared", 0, &got, sizeof got));
        if (got != given * given) {
            fprintf(stderr, "launch %ld: %lu\n", i, (unsigned long)got);
            return 1;
        }
        if (i == launches / 10)
            load_figures("early", begin);
    }
    CHECK(dpu_free(set));
    load_figures("end", begin);
    return 0;
}
