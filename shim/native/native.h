/*
 * The compiled functions that the Python models use: the extension cudla_sim.native._compiled.
 *
 * They are present in every process that imports cudla_sim, whoever started Python, and know
 * nothing of the exported APIs' handles. build_ffi.py reads this file for cffi.
 */
#ifndef CUDLA_SIM_NATIVE_H
#define CUDLA_SIM_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "vpu_run/dma.h"

/* --- NVDLA (fp16_mac.c) -------------------------------------------------------------------- */

/* fp16 convolution of a band of output pixels, everything in one call. */
void sim_fp16_mac(const uint16_t *frame, const int64_t *pixels, size_t pixel_count,
                  const int64_t *offsets, const int64_t *starts, size_t steps,
                  const int32_t *packed, const uint16_t *raw, const uint8_t *odd, size_t kernels,
                  int64_t *mantissas, int32_t *exponents, uint32_t *results);

/* --- functions of the program (calls.c) ---------------------------------------------------- */

/*
 * Each runs a function of the program on a thread that has no Python frame below it, and waits.
 * SIM_NO_THREAD: the system gave no thread, the function was not called.
 */
enum { SIM_CALLED = 0, SIM_NO_THREAD = -1 };
int sim_run_callback(void *fn, void *arg);
int sim_run_stream_callback(void *fn, void *stream, int status, void *user);

/* 1 on a thread that is running such a function. */
int sim_in_callback(void);

/* --- UPMEM (dpu_memory.c, dpu_copy.c, dpu_clear.c, dpu_calls.c) ------------------------------ */

/* Maps the file with the DPUs' memories; 0: errno says why not. */
uint64_t sim_dpu_map(int file, uint64_t size);
void sim_dpu_unmap(uint64_t address, uint64_t size);

/* `size` bytes at `offset` of every slot; slots lie at `base`. */
struct sim_dpu_place {
    uint64_t base, offset, size;
    int to_dpu;
};

/* `function`: a get_block_func_t. */
struct sim_dpu_sg {
    void *function;
    void *arguments;
    uint32_t max_blocks;
    int check_length;
};

enum {
    SIM_SG_DONE,
    SIM_SG_BLOCKS,
    SIM_SG_LENGTH,
    SIM_SG_ADDRESS,
    SIM_SG_MEMORY,
    SIM_SG_THREAD
};

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

/*
 * Begins to give back bytes of the DPUs' memory file, which then read as zero; sim_dpu_cleared waits
 * for the end, once for each. NULL: done already.
 */
void *sim_dpu_clear(int file, uint64_t offset, uint64_t size);
void sim_dpu_cleared(void *clearing);

/*
 * A dpu_callback function (`set`: a struct dpu_set_t) and a log's print function; *answer is what
 * they return. `token` is what sim_dpu_token answers on the thread that runs the function, 0
 * elsewhere.
 */
int sim_dpu_callback(void *function, const void *set, uint32_t number, void *arguments,
                     uint64_t token, int *answer);
uint64_t sim_dpu_token(void);
int sim_dpu_print(void *function, void *argument, const char *text, int *answer);

#endif
