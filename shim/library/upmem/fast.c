/*
 * The calls that programs make over and over (DPU_FOREACH, dpu_prepare_xfer, dpu_push_xfer, copies),
 * without Python where nothing can be wrong: the set is one that dpu_alloc gave, a rank of it or an
 * enabled DPU, the symbol was found before, no job is queued, the buffers are memory, nobody logs or
 * injects faults. Everything else goes to Python, which explains.
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
#include "native/dpu_span.h"
#include "native/dpu_turn.h"
#include "native/native.h"

struct place {
    uint64_t handle;
    const struct sim_dpu_fast_member *member;
};

/* A symbol that was found: of a set (ranks, rank_count) or of one DPU (handle, 0). */
struct learned {
    uint64_t ranks, first, end;
    uint64_t generation, loads; /* of the tables and of the programs that it counts for */
    uint32_t rank_count, unit;
    char name[68];
};

typedef int64_t transfer_function(const struct sim_dpu_place *, const uint32_t *, const uint64_t *,
                                  size_t);
typedef uint64_t token_function(void);

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int enabled;
static struct place *places; /* hashed by handle */
static size_t places_mask;
static struct sim_dpu_fast_set *sets;
static struct sim_dpu_fast_member *members;
static size_t set_count;
static uint64_t memory_base;
static const uint64_t *loads;
static transfer_function *transfer;
static token_function *token;

enum { LEARNED = 1024 };
static struct learned learned[LEARNED];
static uint64_t generation = 1; /* of the tables */

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
    loads = NULL;
    set_count = 0;
    generation++;
}

static void *copy_of(const void *data, size_t size)
{
    void *copy = malloc(size + 1);
    if (copy != NULL && size != 0) {
        memcpy(copy, data, size);
    }
    return copy;
}

int sim_dpu_fast_tables(const struct sim_dpu_fast_member *new_members, size_t member_count,
                        const struct sim_dpu_fast_set *new_sets, size_t new_set_count,
                        uint64_t base, const uint64_t *new_loads, void *new_transfer,
                        void *new_token)
{
    size_t room = 16;
    while (room < 2 * member_count) {
        room *= 2;
    }
    pthread_rwlock_wrlock(&lock);
    forget();
    places = calloc(room, sizeof *places);
    sets = copy_of(new_sets, new_set_count * sizeof *sets);
    members = copy_of(new_members, member_count * sizeof *members);
    int ok = places != NULL && sets != NULL && members != NULL;
    if (ok) {
        places_mask = room - 1;
        for (size_t i = 0; i < member_count; i++) {
            size_t slot = slot_of(members[i].handle);
            while (places[slot].handle != 0) {
                slot = (slot + 1) & places_mask;
            }
            places[slot] = (struct place){members[i].handle, &members[i]};
        }
        set_count = new_set_count;
        memory_base = base;
        loads = new_loads;
        transfer = (transfer_function *)new_transfer;
        token = (token_function *)new_token;
    } else {
        forget();
    }
    pthread_rwlock_unlock(&lock);
    return ok ? 0 : -1;
}

/* In a forked child the sets of the parent do not exist. */
static void after_fork_child(void)
{
    pthread_rwlock_init(&lock, NULL);
    forget();
}

/* When the library is loaded: in a child this has to come before Python's turn, which asks here. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork_child);
}

/* The functions from here on are to be called with the lock held. */
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

static const struct sim_dpu_fast_member *find_place(uint64_t handle)
{
    if (places == NULL) {
        return NULL;
    }
    for (size_t slot = slot_of(handle); places[slot].handle != 0; slot = (slot + 1) & places_mask) {
        if (places[slot].handle == handle) {
            return places[slot].member;
        }
    }
    return NULL;
}

static struct learned *entry_for(uint64_t ranks, uint32_t rank_count, const char *name)
{
    uint64_t hash = (ranks >> 3) + rank_count;
    for (const char *c = name; *c != '\0'; c++) {
        hash = hash * 31 + (uint8_t)*c;
    }
    return &learned[(hash * 0x9e3779b97f4a7c15ull >> 32) % LEARNED];
}

void sim_dpu_fast_learn(uint64_t ranks, uint32_t rank_count, const char *name, uint64_t first,
                        uint64_t end, uint32_t unit)
{
    size_t length = strlen(name);
    if (length >= sizeof learned->name) {
        return;
    }
    pthread_rwlock_wrlock(&lock);
    struct learned *entry = entry_for(ranks, rank_count, name);
    if (loads != NULL) {
        *entry = (struct learned){ranks, first, end, generation, *loads, rank_count, unit, ""};
        memcpy(entry->name, name, length + 1);
    }
    pthread_rwlock_unlock(&lock);
}

/* Where `length` bytes of a symbol lie in the slots; 0 when Python has to look. */
static int find_symbol(uint64_t ranks, uint32_t rank_count, const char *name, uint32_t offset,
                       size_t length, struct sim_dpu_place *place)
{
    const struct learned *entry = entry_for(ranks, rank_count, name);
    if (entry->generation != generation || entry->loads != *loads || entry->ranks != ranks ||
        entry->rank_count != rank_count || strcmp(entry->name, name) != 0) {
        return 0;
    }
    place->base = memory_base;
    place->offset = entry->first + offset;
    place->size = length;
    return length != 0 && sim_dpu_keeps_to(entry->end, entry->unit, place->offset, length);
}

static uint32_t *words_of(const struct sim_dpu_fast_member *member)
{
    return (uint32_t *)(uintptr_t)member->words;
}

enum { DPUS_PER_RANK = 64 };

/* Ends the copy on the ranks of the first `count` DPUs; `index` as for sim_dpu_end_copy. */
static void end_copies(const struct sim_dpu_fast_member *first, size_t count, int index)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || first[i].words != first[i - 1].words) {
            sim_dpu_end_copy(words_of(&first[i]), index);
        }
    }
}

/* 1: their ranks have no job, and none begins before end_copies. */
static int begin_copies(const struct sim_dpu_fast_member *first, size_t count, int index)
{
    int patient = token() == 0; /* a callback has the turn of its own ranks */
    for (size_t i = 0; i < count; i++) {
        if ((i == 0 || first[i].words != first[i - 1].words) &&
            !sim_dpu_begin_copy(words_of(&first[i]), index, patient)) {
            end_copies(first, i, index);
            return 0;
        }
    }
    return 1;
}

/* Copies between DPUs without queued jobs and `same`, or what was prepared for each. */
static int copy(const struct sim_dpu_fast_member *first, size_t count,
                const struct sim_dpu_place *place, const void *same)
{
    uint64_t any = 0;
    uint64_t *hosts = malloc(count * (sizeof *hosts + sizeof(uint32_t)));
    if (hosts == NULL) {
        return 0;
    }
    uint32_t *slots = (uint32_t *)(hosts + count);
    for (size_t i = 0; i < count; i++) {
        hosts[i] = same != NULL ? (uint64_t)(uintptr_t)same
                                : *(const uint64_t *)(uintptr_t)first[i].buffer;
        slots[i] = (uint32_t)first[i].slot;
        any |= hosts[i];
    }
    int done = 0;
    int index = count == 1 ? (int)(first->slot % DPUS_PER_RANK) : -1;
    if (any != 0 && begin_copies(first, count, index)) {
        done = transfer(place, slots, hosts, count) < 0;
        end_copies(first, count, index);
    }
    free(hosts);
    return done;
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
        const struct sim_dpu_fast_member *member = find_place((uint64_t)(uintptr_t)dpu_set.dpu);
        uint64_t *prepared = member != NULL ? (uint64_t *)(uintptr_t)member->buffer : NULL;
        if (prepared != NULL && token() != 0) {
            prepared = NULL; /* callbacks have buffers of their own */
        }
        if (prepared != NULL && (*prepared == 0 || buffer == NULL)) {
            *prepared = (uint64_t)(uintptr_t)buffer;
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
static int fill_iterator(struct dpu_set_dpu_iterator_t *iterator, const struct dpu_set_t *set,
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
                (struct dpu_t *)(uintptr_t)members[found->first_member + number].handle;
        }
        done = 1;
    }
    pthread_rwlock_unlock(&lock);
    return done;
}

SIM_EXPORT struct dpu_set_dpu_iterator_t dpu_set_dpu_iterator_from(struct dpu_set_t *set)
{
    struct dpu_set_dpu_iterator_t iterator = {0};
    if (set != NULL && is_on() && fill_iterator(&iterator, set, 0)) {
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
        fill_iterator(iterator, iterator->rank_iterator.set, iterator->count + 1)) {
        return;
    }
    if (sim_enter() == 0) {
        impl_dpu_set_dpu_iterator_next(iterator);
    }
}

/* One buffer (`same`) or those that were prepared; 0 when Python has to do it. */
static int transfer_now(const struct dpu_set_t *set, int to_dpu, const char *name, uint32_t offset,
                        size_t length, const void *same, int reset)
{
    struct sim_dpu_place place = {0, 0, 0, to_dpu};
    const struct sim_dpu_fast_member *first = NULL;
    uint64_t ranks = 0;
    uint32_t rank_count = 0;
    size_t count = 1;
    int done = 0;
    if (name == NULL || !is_on()) {
        return 0;
    }
    pthread_rwlock_rdlock(&lock);
    if (set->kind == DPU_SET_DPU) {
        ranks = (uint64_t)(uintptr_t)set->dpu;
        first = find_place(ranks);
    } else {
        const struct sim_dpu_fast_set *found = find_set(set);
        if (found != NULL && found->member_count != 0) {
            ranks = found->ranks;
            rank_count = found->rank_count;
            first = &members[found->first_member];
            count = found->member_count;
        }
    }
    if (first != NULL && (same == NULL || to_dpu || count == 1) &&
        find_symbol(ranks, rank_count, name, offset, length, &place)) {
        done = copy(first, count, &place, same);
        for (size_t i = 0; done && reset && i < count; i++) {
            *(uint64_t *)(uintptr_t)first[i].buffer = 0;
        }
    }
    pthread_rwlock_unlock(&lock);
    return done;
}

SIM_EXPORT dpu_error_t dpu_push_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                     const char *symbol_name, uint32_t symbol_offset,
                                     size_t length, dpu_xfer_flags_t flags)
{
    int known = (xfer == DPU_XFER_TO_DPU || xfer == DPU_XFER_FROM_DPU) &&
                (flags == DPU_XFER_DEFAULT || flags == DPU_XFER_NO_RESET);
    if (known && transfer_now(&dpu_set, xfer == DPU_XFER_TO_DPU, symbol_name, symbol_offset, length,
                              NULL, flags == DPU_XFER_DEFAULT)) {
        return DPU_OK;
    }
    if (sim_enter() != 0) {
        return DPU_ERR_INTERNAL;
    }
    return impl_dpu_push_xfer(dpu_set, xfer, symbol_name, symbol_offset, length, flags);
}

SIM_EXPORT dpu_error_t dpu_broadcast_to(struct dpu_set_t dpu_set, const char *symbol_name,
                                        uint32_t symbol_offset, const void *src, size_t length,
                                        dpu_xfer_flags_t flags)
{
    if (src != NULL && flags == DPU_XFER_DEFAULT &&
        transfer_now(&dpu_set, 1, symbol_name, symbol_offset, length, src, 0)) {
        return DPU_OK;
    }
    if (sim_enter() != 0) {
        return DPU_ERR_INTERNAL;
    }
    return impl_dpu_broadcast_to(dpu_set, symbol_name, symbol_offset, src, length, flags);
}

SIM_EXPORT dpu_error_t dpu_copy_to(struct dpu_set_t dpu_set, const char *symbol_name,
                                   uint32_t symbol_offset, const void *src, size_t length)
{
    if (src != NULL && transfer_now(&dpu_set, 1, symbol_name, symbol_offset, length, src, 0)) {
        return DPU_OK;
    }
    if (sim_enter() != 0) {
        return DPU_ERR_INTERNAL;
    }
    return impl_dpu_copy_to(dpu_set, symbol_name, symbol_offset, src, length);
}

SIM_EXPORT dpu_error_t dpu_copy_from(struct dpu_set_t dpu_set, const char *symbol_name,
                                     uint32_t symbol_offset, void *dst, size_t length)
{
    if (dst != NULL && transfer_now(&dpu_set, 0, symbol_name, symbol_offset, length, dst, 0)) {
        return DPU_OK;
    }
    if (sim_enter() != 0) {
        return DPU_ERR_INTERNAL;
    }
    return impl_dpu_copy_from(dpu_set, symbol_name, symbol_offset, dst, length);
}
