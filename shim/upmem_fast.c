/*
 * The calls that programs make once for each DPU of each transfer (DPU_FOREACH, dpu_prepare_xfer),
 * without Python where nothing can be wrong: the set is one that dpu_alloc gave or a rank of it, the
 * DPU is enabled, nobody logs or injects faults. Everything else goes to Python, which explains.
 *
 * Python hands over the tables whenever a set is allocated or freed.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "dpu.h"
#include "generated/hand_written.h"
#include "internal.h"

struct place {
    uint64_t handle;
    uint64_t *buffer; /* what dpu_prepare_xfer sets */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int enabled;
static struct place *places; /* hashed by handle */
static size_t places_mask;
static struct sim_dpu_fast_set *sets;
static uint64_t *members;
static size_t set_count;

static size_t slot_of(uint64_t handle)
{
    return (size_t)((handle >> 4) * 0x9e3779b97f4a7c15ull >> 32) & places_mask;
}

void sim_dpu_fast_enable(int on)
{
    __atomic_store_n(&enabled, on, __ATOMIC_RELEASE);
}

static void forget(void)
{
    free(places);
    free(sets);
    free(members);
    places = NULL;
    sets = NULL;
    members = NULL;
    set_count = 0;
}

int sim_dpu_fast_tables(const uint64_t *handles, const uint64_t *buffers, size_t count,
                        const struct sim_dpu_fast_set *new_sets, size_t new_set_count,
                        const uint64_t *new_members, size_t member_count)
{
    size_t room = 16;
    while (room < 2 * count) {
        room *= 2;
    }
    pthread_rwlock_wrlock(&lock);
    forget();
    places = calloc(room, sizeof *places);
    sets = malloc((new_set_count + 1) * sizeof *sets);
    members = malloc((member_count + 1) * sizeof *members);
    int ok = places != NULL && sets != NULL && members != NULL;
    if (ok) {
        places_mask = room - 1;
        for (size_t i = 0; i < count; i++) {
            size_t slot = slot_of(handles[i]);
            while (places[slot].handle != 0) {
                slot = (slot + 1) & places_mask;
            }
            places[slot] = (struct place){handles[i], (uint64_t *)(uintptr_t)buffers[i]};
        }
        memcpy(sets, new_sets, new_set_count * sizeof *sets);
        memcpy(members, new_members, member_count * sizeof *members);
        set_count = new_set_count;
    } else {
        forget();
    }
    pthread_rwlock_unlock(&lock);
    return ok ? 0 : -1;
}

/* In a forked child the sets of the parent do not exist. */
void sim_dpu_fast_after_fork(void)
{
    pthread_rwlock_init(&lock, NULL);
    forget();
}

/* Both are to be called with the lock held. */
static const struct sim_dpu_fast_set *find_set(const struct dpu_set_t *set)
{
    if (set->kind == DPU_SET_RANKS) {
        for (size_t i = 0; i < set_count; i++) {
            if (sets[i].ranks == (uint64_t)(uintptr_t)set->list.ranks &&
                sets[i].rank_count == set->list.nr_ranks) {
                return &sets[i];
            }
        }
    }
    return NULL;
}

static struct place *find_place(uint64_t handle)
{
    if (places == NULL) {
        return NULL;
    }
    for (size_t slot = slot_of(handle); places[slot].handle != 0; slot = (slot + 1) & places_mask) {
        if (places[slot].handle == handle) {
            return &places[slot];
        }
    }
    return NULL;
}

static int is_on(void)
{
    return __atomic_load_n(&enabled, __ATOMIC_ACQUIRE);
}

SIM_EXPORT dpu_error_t dpu_prepare_xfer(struct dpu_set_t dpu_set, void *buffer)
{
    if (dpu_set.kind == DPU_SET_DPU && is_on()) {
        int done = 0;
        pthread_rwlock_rdlock(&lock);
        struct place *place = find_place((uint64_t)(uintptr_t)dpu_set.dpu);
        if (place != NULL && (*place->buffer == 0 || buffer == NULL)) {
            *place->buffer = (uint64_t)(uintptr_t)buffer;
            done = 1;
        }
        pthread_rwlock_unlock(&lock);
        if (done) {
            return DPU_OK;
        }
    }
    if (sim_enter() != 0) {
        return DPU_ERR_INTERNAL;
    }
    return impl_dpu_prepare_xfer(dpu_set, buffer);
}

/* 0 when Python has to answer. */
static int fill(struct dpu_set_dpu_iterator_t *iterator, const struct dpu_set_t *set,
                uint32_t number)
{
    int done = 0;
    pthread_rwlock_rdlock(&lock);
    const struct sim_dpu_fast_set *found = find_set(set);
    if (found != NULL) {
        iterator->count = number;
        iterator->next_idx = number + 1;
        iterator->has_next = number < found->member_count;
        if (iterator->has_next) {
            iterator->next.kind = DPU_SET_DPU;
            iterator->next.dpu =
                (struct dpu_t *)(uintptr_t)members[found->first_member + number];
        }
        done = 1;
    }
    pthread_rwlock_unlock(&lock);
    return done;
}

SIM_EXPORT struct dpu_set_dpu_iterator_t dpu_set_dpu_iterator_from(struct dpu_set_t *set)
{
    struct dpu_set_dpu_iterator_t iterator = {0};
    if (set != NULL && is_on() && fill(&iterator, set, 0)) {
        iterator.rank_iterator.set = set;
        iterator.rank_iterator.has_next = true;
        iterator.rank_iterator.next_idx = 1;
        iterator.rank_iterator.next = *set;
        iterator.rank_iterator.next.list.nr_ranks = 1;
        return iterator;
    }
    if (sim_enter() != 0) {
        return iterator;
    }
    return impl_dpu_set_dpu_iterator_from(set);
}

SIM_EXPORT void dpu_set_dpu_iterator_next(struct dpu_set_dpu_iterator_t *iterator)
{
    if (iterator != NULL && iterator->rank_iterator.set != NULL && is_on() &&
        fill(iterator, iterator->rank_iterator.set, iterator->count + 1)) {
        return;
    }
    if (sim_enter() == 0) {
        impl_dpu_set_dpu_iterator_next(iterator);
    }
}
