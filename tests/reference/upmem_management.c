/* Single ranks and DPUs: their numbers, locks and descriptions, and the sets of them. */
#include <dpu.h>
#include <dpu_management.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "check.h"

#define NR_DPUS 10

static void numbers(struct dpu_rank_t *rank)
{
    struct dpu_t *dpu = dpu_get(rank, 1, 0);
    CHECK(dpu != NULL);
    dpu_slice_id_t slice = dpu_get_slice_id(dpu);
    CHECK(slice == 1);
    dpu_member_id_t member = dpu_get_member_id(dpu);
    CHECK(member == 0);
    dpu_id_t rank_id = dpu_get_rank_id(rank);
    dpu_id_t id = dpu_get_id(dpu);
    CHECK(id == (rank_id << 16 | 1 << 8 | 0));
    struct dpu_rank_t *its_rank = dpu_get_rank(dpu);
    CHECK(its_rank == rank);
    int node = dpu_get_rank_numa_node(rank);
    CHECK(node >= 0);
    CHECK(dpu_get(rank, DPU_MAX_NR_CIS, 0) == NULL);
}

static void *try_it(void *rank)
{
    return (void *)(intptr_t)dpu_trylock_rank(rank);
}

/* What another thread is answered. */
static int elsewhere(struct dpu_rank_t *rank)
{
    pthread_t thread;
    void *answer;

    CHECK(pthread_create(&thread, NULL, try_it, rank) == 0);
    CHECK(pthread_join(thread, &answer) == 0);
    return (int)(intptr_t)answer;
}

/* Slices with fewer DPUs have no others, not even disabled ones. */
static void small_slices(void)
{
    struct dpu_set_t set;

    DPU_ASSERT(dpu_alloc_ranks(1, "nrDpusPerCi=2", &set));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    struct dpu_t *second = dpu_get(rank, 0, 1), *third = dpu_get(rank, 0, 2);
    CHECK(second != NULL && third == NULL);
    CHECK(dpu_get(rank, 0, 7) == NULL);
    DPU_ASSERT(dpu_free(set));
}

static void one_rank(void)
{
    struct dpu_rank_t *rank;
    uint32_t dpus;

    DPU_ASSERT(dpu_get_rank_of_type("backend=simulator", &rank));
    struct dpu_set_t set = dpu_set_from_rank(&rank);
    CHECK(set.kind == DPU_SET_RANKS);
    DPU_ASSERT(dpu_get_nr_dpus(set, &dpus));
    CHECK(dpus == MAX_NR_DPUS_PER_RANK);

    /* The lock is recursive: who has it gets it again, and gives it back twice. */
    dpu_lock_rank(rank);
    int refused = dpu_trylock_rank(rank);
    CHECK(refused == 0);
    CHECK(elsewhere(rank) == EBUSY);
    dpu_unlock_rank(rank);
    dpu_unlock_rank(rank);
    DPU_ASSERT(dpu_free_rank(rank));
    CHECK(dpu_get_nr_dpus(set, &dpus) == DPU_ERR_INVALID_DPU_SET);
}

static void descriptions(struct dpu_rank_t *rank)
{
    dpu_description_t description;
    dpu_description_t of_rank = dpu_get_description(rank);
    CHECK(of_rank->hw.topology.nr_of_control_interfaces == DPU_MAX_NR_CIS);
    CHECK(of_rank->hw.memories.mram_size == 64 << 20);

    DPU_ASSERT(dpu_get_profile_description("chipId=66", &description));
    CHECK(description->hw.dpu.nr_of_threads == 16);
    CHECK(description->refcount == 1);
    dpu_acquire_description(description);
    CHECK(description->refcount == 2);
    dpu_free_description(description);
    CHECK(description->refcount == 1);
    dpu_free_description(description);
}

int main(void)
{
    struct dpu_set_t set, dpu_set;
    struct dpu_t *dpu, *surplus;
    uint32_t enabled = 0, dpus;

    DPU_ASSERT(dpu_alloc(NR_DPUS, NULL, &set));
    struct dpu_rank_t *rank = dpu_rank_from_set(set);
    CHECK(rank == set.list.ranks[0]);
    numbers(rank);
    descriptions(rank);

    /* What STRUCT_DPU_FOREACH does. */
    struct dpu_iterator_t iterator = dpu_iterator_from(rank);
    while (iterator.has_next) {
        enabled += dpu_is_enabled(iterator.next);
        dpu_iterator_next(&iterator);
    }
    CHECK(enabled == NR_DPUS);
    surplus = dpu_get(rank, DPU_MAX_NR_CIS - 1, DPU_MAX_NR_DPUS_PER_CI - 1);
    bool is_used = dpu_is_enabled(surplus);
    CHECK(!is_used);

    DPU_FOREACH(set, dpu_set) {
        dpu = dpu_from_set(dpu_set);
        struct dpu_set_t same = dpu_set_from_dpu(dpu);
        CHECK(same.kind == DPU_SET_DPU && same.dpu == dpu_set.dpu);
        DPU_ASSERT(dpu_get_nr_dpus(same, &dpus));
        CHECK(dpus == 1);
        struct dpu_rank_t *no_rank = dpu_rank_from_set(dpu_set);
        CHECK(no_rank == NULL);
    }
    dpu = dpu_from_set(set);
    CHECK(dpu == NULL);
    DPU_ASSERT(dpu_free(set));
    one_rank();
    small_slices();
    printf("ok\n");
    return 0;
}
