/* What pyimpl/cudla_sim/abi/upmem/copying.py calls; build_ffi.py declares the same to cffi. */
#ifndef CUDLA_SIM_UPMEM_COPY_H
#define CUDLA_SIM_UPMEM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dpu.h"

/* `size` bytes at `offset` of every slot; slots lie at `base`. */
struct sim_dpu_place {
    uint64_t base, offset, size;
    int to_dpu;
};

struct sim_dpu_sg {
    get_block_func_t function;
    void *arguments;
    uint32_t max_blocks;
    int check_length;
};

enum { SIM_SG_DONE, SIM_SG_BLOCKS, SIM_SG_LENGTH, SIM_SG_ADDRESS, SIM_SG_MEMORY };

/* Where it failed: DPU and block number as the program counts them. */
struct sim_dpu_sg_result {
    uint32_t dpu, block;
    uint64_t found;
};

/* Index of the first host address that is not memory (nothing is copied then), or -1. */
int64_t sim_dpu_transfer(const struct sim_dpu_place *place, const uint32_t *slots,
                         const uint64_t *hosts, size_t count);

/* One of SIM_SG_*; nothing is copied unless it is SIM_SG_DONE. */
int sim_dpu_scatter_gather(const struct sim_dpu_place *place, const uint32_t *slots,
                           const uint32_t *indexes, size_t count, const struct sim_dpu_sg *sg,
                           struct sim_dpu_sg_result *result);

/* A dpu_callback function and a log's print function; their answers. `token` is what
   sim_dpu_token answers on the thread that runs the function, 0 elsewhere. */
int sim_dpu_callback(void *function, const struct dpu_set_t *set, uint32_t number,
                     void *arguments, uint64_t token);
uint64_t sim_dpu_token(void);
int sim_dpu_print(void *function, void *argument, const char *text);

/* fwrite: the number of bytes that the stream took. */
size_t sim_dpu_write(FILE *stream, const char *text, size_t size);

/* A set, or one rank of it, as dpu_set_t names it, and its enabled DPUs in `members`. */
struct sim_dpu_fast_set {
    uint64_t ranks, first_member;
    uint32_t rank_count, member_count;
};

/* Whether calls may be answered without Python, and what about; see upmem_fast.c. */
void sim_dpu_fast_enable(int on);
int sim_dpu_fast_tables(const uint64_t *handles, const uint64_t *buffers, size_t count,
                        const struct sim_dpu_fast_set *sets, size_t set_count,
                        const uint64_t *members, size_t member_count);
void sim_dpu_fast_after_fork(void);

#endif
