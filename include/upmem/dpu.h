/*
 * dpu.h - the host API: sets of DPUs, programs, transfers, launches.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_H
#define CUDLA_SIM_UPMEM_DPU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "dpu_bank_interface_pmc.h"
#include "dpu_checkpoint.h"
#include "dpu_error.h"
#include "dpu_fifo.h"
#include "dpu_macro_utils.h"
#include "dpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPU_ALLOCATE_ALL (0xffffffffU)

/* --- sets ----------------------------------------------------------------------------------- */

/* `profile`: key=value pairs with commas, or NULL. Whole ranks are taken; surplus DPUs of the last
   one are disabled. */
dpu_error_t dpu_alloc(uint32_t nr_dpus, const char *profile, struct dpu_set_t *dpu_set);
dpu_error_t dpu_alloc_ranks(uint32_t nr_ranks, const char *profile, struct dpu_set_t *dpu_set);
dpu_error_t dpu_free(struct dpu_set_t dpu_set);
dpu_error_t dpu_get_nr_ranks(struct dpu_set_t dpu_set, uint32_t *nr_ranks);
dpu_error_t dpu_get_nr_dpus(struct dpu_set_t dpu_set, uint32_t *nr_dpus);

struct dpu_set_rank_iterator_t {
    struct dpu_set_t *set;
    uint32_t count;
    uint32_t next_idx;
    bool has_next;
    struct dpu_set_t next;
};

struct dpu_set_dpu_iterator_t {
    struct dpu_set_rank_iterator_t rank_iterator;
    uint32_t count;
    uint32_t next_idx;
    bool has_next;
    struct dpu_set_t next;
};

struct dpu_set_rank_iterator_t dpu_set_rank_iterator_from(struct dpu_set_t *set);
void dpu_set_rank_iterator_next(struct dpu_set_rank_iterator_t *iterator);
struct dpu_set_dpu_iterator_t dpu_set_dpu_iterator_from(struct dpu_set_t *set);
void dpu_set_dpu_iterator_next(struct dpu_set_dpu_iterator_t *iterator);

/* The index counts over the set. After the loop the loop variable holds no DPU. */
#define _DPU_RANK_FOREACH_I(set, rank, i)                                                          \
    for (struct dpu_set_rank_iterator_t __rank_it = dpu_set_rank_iterator_from(&(set));            \
         (i) = __rank_it.count, (rank) = __rank_it.next, __rank_it.has_next;                       \
         dpu_set_rank_iterator_next(&__rank_it))
#define _DPU_RANK_FOREACH_X(set, rank)                                                             \
    for (struct dpu_set_rank_iterator_t __rank_it = dpu_set_rank_iterator_from(&(set));            \
         (rank) = __rank_it.next, __rank_it.has_next; dpu_set_rank_iterator_next(&__rank_it))

#define _DPU_FOREACH_I(set, dpu, i)                                                                \
    for (struct dpu_set_dpu_iterator_t __dpu_it = dpu_set_dpu_iterator_from(&(set));               \
         (i) = __dpu_it.count, (dpu) = __dpu_it.next, __dpu_it.has_next;                           \
         dpu_set_dpu_iterator_next(&__dpu_it))
#define _DPU_FOREACH_X(set, dpu)                                                                   \
    for (struct dpu_set_dpu_iterator_t __dpu_it = dpu_set_dpu_iterator_from(&(set));               \
         (dpu) = __dpu_it.next, __dpu_it.has_next; dpu_set_dpu_iterator_next(&__dpu_it))

/* Picks by the number of arguments. */
#define _DPU_FOREACH_VARIANT(_1, _2, _3, variant, ...) variant

/* DPU_FOREACH(set, dpu) or DPU_FOREACH(set, dpu, index); `set` must be a variable. */
#define DPU_FOREACH(...)                                                                           \
    _DPU_FOREACH_VARIANT(__VA_ARGS__, _DPU_FOREACH_I, _DPU_FOREACH_X, _)(__VA_ARGS__)

/* DPU_RANK_FOREACH(set, rank) or DPU_RANK_FOREACH(set, rank, index) */
#define DPU_RANK_FOREACH(...)                                                                      \
    _DPU_FOREACH_VARIANT(__VA_ARGS__, _DPU_RANK_FOREACH_I, _DPU_RANK_FOREACH_X, _)(__VA_ARGS__)

/* --- programs ------------------------------------------------------------------------------- */

dpu_error_t dpu_load(struct dpu_set_t dpu_set, const char *binary_path,
                     struct dpu_program_t **program);
dpu_error_t dpu_load_from_memory(struct dpu_set_t dpu_set, uint8_t *buffer, size_t buffer_size,
                                 struct dpu_program_t **program);
dpu_error_t dpu_load_from_incbin(struct dpu_set_t dpu_set, struct dpu_incbin_t *incbin,
                                 struct dpu_program_t **program);
dpu_error_t dpu_get_symbol(struct dpu_program_t *program, const char *symbol_name,
                           struct dpu_symbol_t *symbol);

/* Puts the file into this object file and defines `struct dpu_incbin_t name` for it. The file's
   name is a string literal, found by the assembler. */
#define DPU_INCBIN(name, filename)                                                                 \
    __asm__(".pushsection .rodata.dpu_incbin, \"a\", @progbits\n"                                  \
            ".balign 16\n"                                                                         \
            ".global dpu_incbin_" _XSTR(name) "\n"                                                 \
            ".type dpu_incbin_" _XSTR(name) ", @object\n"                                          \
            "dpu_incbin_" _XSTR(name) ":\n"                                                        \
            ".incbin \"" filename "\"\n"                                                           \
            ".global dpu_incbin_" _XSTR(name) "_size\n"                                            \
            ".set dpu_incbin_" _XSTR(name) "_size, . - dpu_incbin_" _XSTR(name) "\n"               \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    _DPU_INCBIN_C uint8_t _CONCAT_X(dpu_incbin_, name)[];                                          \
    _DPU_INCBIN_C uint8_t _CONCAT_X(_CONCAT_X(dpu_incbin_, name), _size)[];                        \
    struct dpu_incbin_t name                                                                       \
        = { _CONCAT_X(dpu_incbin_, name),                                                          \
            (size_t)_CONCAT_X(_CONCAT_X(dpu_incbin_, name), _size), filename };

#ifdef __cplusplus
#define _DPU_INCBIN_C extern "C"
#else
#define _DPU_INCBIN_C extern
#endif

/* --- execution ------------------------------------------------------------------------------ */

dpu_error_t dpu_launch(struct dpu_set_t dpu_set, dpu_launch_policy_t policy);

/* done: all DPUs have finished; fault: at least one is in fault. */
dpu_error_t dpu_status(struct dpu_set_t dpu_set, bool *done, bool *fault);

/* Waits for everything asynchronous; gives the first error of it. */
dpu_error_t dpu_sync(struct dpu_set_t dpu_set);

/* Calls a function when the ranks have done what was asked of them before. */
dpu_error_t dpu_callback(struct dpu_set_t dpu_set,
                         dpu_error_t (*callback)(struct dpu_set_t, uint32_t, void *), void *args,
                         dpu_callback_flags_t flags);

/* --- transfers (offsets and lengths in bytes) ------------------------------------------------ */

/* The same bytes to every DPU; from a single DPU only. */
dpu_error_t dpu_copy_to(struct dpu_set_t dpu_set, const char *symbol_name, uint32_t symbol_offset,
                        const void *src, size_t length);
dpu_error_t dpu_copy_from(struct dpu_set_t dpu_set, const char *symbol_name,
                          uint32_t symbol_offset, void *dst, size_t length);
dpu_error_t dpu_copy_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                               uint32_t symbol_offset, const void *src, size_t length);
dpu_error_t dpu_copy_from_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                 uint32_t symbol_offset, void *dst, size_t length);

dpu_error_t dpu_broadcast_to(struct dpu_set_t dpu_set, const char *symbol_name,
                             uint32_t symbol_offset, const void *src, size_t length,
                             dpu_xfer_flags_t flags);
dpu_error_t dpu_broadcast_to_symbol(struct dpu_set_t dpu_set, struct dpu_symbol_t symbol,
                                    uint32_t symbol_offset, const void *src, size_t length,
                                    dpu_xfer_flags_t flags);

/* A buffer for each DPU, then one transfer for all that have one. */
dpu_error_t dpu_prepare_xfer(struct dpu_set_t dpu_set, void *buffer);
dpu_error_t dpu_push_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer, const char *symbol_name,
                          uint32_t symbol_offset, size_t length, dpu_xfer_flags_t flags);
dpu_error_t dpu_push_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                 struct dpu_symbol_t symbol, uint32_t symbol_offset, size_t length,
                                 dpu_xfer_flags_t flags);

/* Scatter and gather: a function names the blocks of each DPU. Needs sgXferEnable=true. */
dpu_error_t dpu_push_sg_xfer(struct dpu_set_t dpu_set, dpu_xfer_t xfer, const char *symbol_name,
                             uint32_t symbol_offset, size_t length, get_block_t *get_block_info,
                             dpu_sg_xfer_flags_t flags);
dpu_error_t dpu_push_sg_xfer_symbol(struct dpu_set_t dpu_set, dpu_xfer_t xfer,
                                    struct dpu_symbol_t symbol, uint32_t symbol_offset,
                                    size_t length, get_block_t *get_block_info,
                                    dpu_sg_xfer_flags_t flags);

dpu_error_t dpu_fifo_prepare_xfer(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *fifo_link,
                                  void *buffer);
dpu_error_t dpu_fifo_push_xfer(struct dpu_set_t dpu_set, struct dpu_fifo_link_t *fifo_link,
                               dpu_xfer_flags_t flags);

/* --- output of DPU programs ------------------------------------------------------------------ */

dpu_error_t dpu_log_read(struct dpu_set_t set, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
