/* Sets of ranks and of DPUs, and the iterators behind DPU_RANK_FOREACH and DPU_FOREACH. */
#include <dpu.h>
#include <stdint.h>

#include "check.h"

int main(void)
{
    struct dpu_set_t set, part;
    uint32_t ranks, dpus;

    DPU_ASSERT(dpu_alloc_ranks(2, NULL, &set));
    DPU_ASSERT(dpu_get_nr_ranks(set, &ranks));
    CHECK(ranks == 2);
    DPU_ASSERT(dpu_get_nr_dpus(set, &dpus));
    CHECK(dpus == 2 * MAX_NR_DPUS_PER_RANK);

    /* What the loops of dpu.h do, for programs that cannot use macros. */
    struct dpu_set_rank_iterator_t rank_it = dpu_set_rank_iterator_from(&set);
    CHECK(rank_it.has_next && rank_it.count == 0);
    DPU_ASSERT(dpu_get_nr_dpus(rank_it.next, &dpus));
    CHECK(dpus == MAX_NR_DPUS_PER_RANK);
    dpu_set_rank_iterator_next(&rank_it);
    CHECK(rank_it.has_next && rank_it.count == 1);
    CHECK(rank_it.next.list.ranks[0] == set.list.ranks[1]);
    dpu_set_rank_iterator_next(&rank_it);
    CHECK(!rank_it.has_next && rank_it.count == 2);

    struct dpu_set_dpu_iterator_t dpu_it = dpu_set_dpu_iterator_from(&set);
    CHECK(dpu_it.has_next && dpu_it.next.kind == DPU_SET_DPU);
    part = dpu_it.next;
    dpu_set_dpu_iterator_next(&dpu_it);
    CHECK(dpu_it.count == 1 && dpu_it.next.dpu != part.dpu);
    while (dpu_it.has_next)
        dpu_set_dpu_iterator_next(&dpu_it);
    CHECK(dpu_it.count == 2 * MAX_NR_DPUS_PER_RANK);

    /* One DPU is a set, too, that cannot be freed alone. */
    DPU_ASSERT(dpu_get_nr_dpus(part, &dpus));
    CHECK(dpus == 1);
    CHECK(dpu_free(part) == DPU_ERR_INVALID_DPU_SET);
    DPU_ASSERT(dpu_free(set));

    /* Whole ranks are taken; a set has the DPUs that were asked for. */
    DPU_ASSERT(dpu_alloc(MAX_NR_DPUS_PER_RANK + 1, NULL, &set));
    DPU_ASSERT(dpu_get_nr_ranks(set, &ranks));
    DPU_ASSERT(dpu_get_nr_dpus(set, &dpus));
    CHECK(ranks == 2 && dpus == MAX_NR_DPUS_PER_RANK + 1);
    DPU_ASSERT(dpu_free(set));
    printf("ok\n");
    return 0;
}
