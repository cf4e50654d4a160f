/*
 * dpu_management.h - single ranks and DPUs: finding, numbering and locking them.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_MANAGEMENT_H
#define CUDLA_SIM_UPMEM_DPU_MANAGEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "dpu_description.h"
#include "dpu_error.h"
#include "dpu_macro_utils.h"
#include "dpu_target.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Walks over the enabled DPUs of one rank. */
struct dpu_iterator_t {
    struct dpu_rank_t *rank;
    uint32_t count;
    uint32_t next_idx;
    bool has_next;
    struct dpu_t *next;
};

struct dpu_iterator_t dpu_iterator_from(struct dpu_rank_t *rank);
void dpu_iterator_next(struct dpu_iterator_t *iterator);

#define _STRUCT_DPU_FOREACH_I(rank, dpu, i)                                                        \
    for (struct dpu_iterator_t __dpu_it = dpu_iterator_from(rank);                                 \
         (i) = __dpu_it.count, (dpu) = __dpu_it.next, __dpu_it.has_next;                           \
         dpu_iterator_next(&__dpu_it))
#define _STRUCT_DPU_FOREACH_X(rank, dpu)                                                           \
    for (struct dpu_iterator_t __dpu_it = dpu_iterator_from(rank);                                 \
         (dpu) = __dpu_it.next, __dpu_it.has_next; dpu_iterator_next(&__dpu_it))
#define _STRUCT_DPU_FOREACH_VARIANT(_1, _2, _3, name, ...) name

/* STRUCT_DPU_FOREACH(rank, dpu) or STRUCT_DPU_FOREACH(rank, dpu, index) */
#define STRUCT_DPU_FOREACH(...)                                                                    \
    _STRUCT_DPU_FOREACH_VARIANT(__VA_ARGS__, _STRUCT_DPU_FOREACH_I, _STRUCT_DPU_FOREACH_X, _)      \
    (__VA_ARGS__)

/* The description that a profile leads to. Free it with dpu_free_description. */
dpu_error_t dpu_get_profile_description(const char *profile, dpu_description_t *description);

/* Allocates one rank. */
dpu_error_t dpu_get_rank_of_type(const char *profile, struct dpu_rank_t **rank);
dpu_error_t dpu_free_rank(struct dpu_rank_t *rank);

/* Recursive; trylock gives 0 when the rank is locked now, EBUSY when another thread has it. */
void dpu_lock_rank(struct dpu_rank_t *rank);
int dpu_trylock_rank(struct dpu_rank_t *rank);
void dpu_unlock_rank(struct dpu_rank_t *rank);

struct dpu_t *dpu_get(struct dpu_rank_t *rank, dpu_slice_id_t slice_id, dpu_member_id_t dpu_id);

/* rank << 16 | slice << 8 | member */
dpu_id_t dpu_get_id(struct dpu_t *dpu);
dpu_id_t dpu_get_rank_id(struct dpu_rank_t *rank);
int dpu_get_rank_numa_node(struct dpu_rank_t *rank);
struct dpu_rank_t *dpu_get_rank(struct dpu_t *dpu);
dpu_slice_id_t dpu_get_slice_id(struct dpu_t *dpu);
dpu_member_id_t dpu_get_member_id(struct dpu_t *dpu);
bool dpu_is_enabled(struct dpu_t *dpu);
dpu_description_t dpu_get_description(struct dpu_rank_t *rank);

/* Between sets and what they hold. The pointer that is given must live as long as the set. */
struct dpu_set_t dpu_set_from_rank(struct dpu_rank_t **rank);
struct dpu_set_t dpu_set_from_dpu(struct dpu_t *dpu);
struct dpu_rank_t *dpu_rank_from_set(struct dpu_set_t set);
struct dpu_t *dpu_from_set(struct dpu_set_t set);

#ifdef __cplusplus
}
#endif

#endif
