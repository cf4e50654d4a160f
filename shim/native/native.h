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

/* Compiled functions use instructions up to a level (cpu.c; "machine": all that there are) from now on.
 * 1: this machine has them all, 0: it has not, -1: no such level. */
int sim_isa(const char *name);

/* --- NVDLA, fp16 (fp16_*.c) ----------------------------------------------------------------- */

/*
 * fp16 convolution of output pixels. `kernels` is the row length of `packed` and `raw`, a multiple of
 * 16; `results` is [pixel][kernel]. `packed` holds, per weight, exponent / 4 from bit 20 on (-64 for
 * zeros) and in bits 16..0 twice the mantissa, inverted if negative. A step has at most 64 products;
 * `odd[step]` tells that one of its weights is a NaN.
 */
struct sim_fp16_job {
    const uint16_t *frame;
    const int64_t *pixels;
    size_t pixel_count;
    const int64_t *offsets, *starts;
    size_t steps;
    const int32_t *packed;
    const uint16_t *raw;
    const uint8_t *odd;
    size_t kernels;
    uint32_t *results;
};

/* The instructions that this machine has for it, the fastest first; NULL: no more. */
const char *sim_fp16_instructions(int number);

/* `instructions` NULL: the fastest. -1: no memory, or no such instructions here. */
int sim_fp16_mac(const struct sim_fp16_job *job, const char *instructions);

/* --- NVDLA, integers (int_*.c) --------------------------------------------------------------- */

/* Elements [surface][y][x][channel of the surface]; distances in bytes, `item` 1 or 2 bytes. */
struct sim_cube {
    uint8_t *base;
    int64_t surface, line, pixel, element;
    int32_t atom, channels; /* of a surface, of all; those behind read as 0 and are not written */
    int32_t item;
};

enum { SIM_NUMBER, SIM_CHANNELS, SIM_ELEMENTS };

/* Operand of an SDP stage: a number, one for each channel, or one for each element (`cube`; one for
 * each channel lies at cube.base in steps of cube.element). */
struct sim_operand {
    int32_t kind, convert;
    double number;
    struct sim_cube cube;
    double offset, scale;
    int32_t truncate, shift; /* after the converter: left */
};

enum { SIM_ALU_MAX, SIM_ALU_MIN, SIM_ALU_SUM, SIM_ALU_DIFFER, SIM_ALU_NONE };

/* X1, X2 (y: 0), Y (y: 1; multiplies first, has no ReLU). Operand converters are Y's only. */
struct sim_stage {
    int32_t y, alu, mul, prelu, relu, shift;
    struct sim_operand alu_operand, mul_operand;
};

enum { SIM_LE_ENTRIES = 65, SIM_LUT_ENTRIES = 65 + 257 };

/* The look-up tables of SDP, or of CDP, which interpolates and counts in another way. In pairs LE
 * comes first, then LO; slopes are for values below a table, above it. */
struct sim_lut {
    int32_t cdp, linear; /* LE's index; LO's always is */
    int32_t under, over, hybrid; /* priorities: LO decides */
    double start[2], scale[2];   /* scale: 2^-select */
    double exponent;             /* of the exponential table's first entry */
    double origin[2][2], slope[2][2]; /* slope: scale * 2^-shift */
    double limit;                     /* results lie from -limit to limit - 1 */
    double entries[SIM_LUT_ENTRIES], steps[SIM_LUT_ENTRIES]; /* steps: to the next one */
    int32_t singles; /* of fp16: float holds all of them */
    float single_entries[SIM_LUT_ENTRIES], single_steps[SIM_LUT_ENTRIES]; /* then they are these */
    int64_t under_count, over_count, hybrid_count, le_count, lo_count; /* results */
};

/* SDP in integers: input (a cube in memory, or sums of a convolution), stages, converter, output. */
struct sim_sdp {
    int32_t height, width, channels; /* channels: up to the end of the last surface */
    int32_t stage_count;
    struct sim_stage stages[3];
    double offset, factor; /* factor: scale * 2^-shift */
    int32_t round, count_saturation;
    int32_t low, high;
    struct sim_lut *lut; /* behind the stages, or NULL */
    uint32_t *map;       /* of a cube with tables: zeros at first, for each number of its items; or NULL */
    int32_t map_uses;
    struct sim_cube output;
    int32_t output_half, nan_to_zero, count_nan_inputs, count_nan; /* of sim_half_sdp */
    int64_t clipped, saturated; /* results */
    int64_t nan_inputs, infinite_inputs, nan_outputs; /* of sim_half_sdp */
};

/* What the input converter makes of a number: (v - offset) * factor, rounded half away from zero,
 * cut to the range of the processing. */
struct sim_converter {
    int32_t used, low, high;
    double offset, factor;
};

/* Weights for the implementation `dot` (`wide`: of those with 64-bit sums, `diagonal`: of those
 * whose kernel k multiplies channel k only), and the window over a frame of padded input. Sums that
 * are not wide are at most `bound` from 0. */
struct sim_window {
    int32_t dot, wide, diagonal;
    int32_t kernels;
    int32_t out_height, out_width;
    int32_t stride_y, stride_x;           /* in the frame */
    int32_t height, width, channels;      /* of the frame */
    int32_t groups, run_count;            /* groups of elements in a run */
    const int64_t *runs;                  /* elements from the window's first one */
    const void *weights;
    const int32_t *start;                 /* [kernel], where sums begin */
    int64_t bound;
    int32_t pad;
    int32_t top, left, in_height, in_width; /* input in the frame */
    int32_t step_y, step_x;               /* of the input, from one line of the frame to the next */
    int32_t truncate;                     /* of CACC */
    const int16_t *table;                 /* what the input converter makes of each byte, or NULL */
    struct sim_converter convert;         /* for input of 16 bits */
    struct sim_cube input;
    int64_t saturated; /* result: sums that CACC cut to 32 bits, without the channels it lacks */
};

/* What an implementation wants: kernels whose weights lie together, elements of a group, bytes of an
 * element, what is added to data, whether 16-bit weights are whole or in parts. NULL: this machine cannot
 * do it, or there is no such number. */
struct sim_dot_kind {
    const char *name;
    int32_t block, group, item, offset, whole;
};
int sim_dot_kind(int number, struct sim_dot_kind *kind); /* 0: there is none, -1: not here */
int sim_wide_kind(int number, struct sim_dot_kind *kind); /* the same of those with 64-bit sums */
int sim_diagonal_kind(int number, struct sim_dot_kind *kind); /* and of those for depthwise ones */

/* A convolution; unless it is `wide`, its sums fit 32 bits. With `sdp` its results go through it,
 * else to `sums` [y][x][kernels]. -1: no memory. */
int sim_int_conv(struct sim_window *window, struct sim_sdp *sdp, int32_t *sums);

/* SDP on a cube in memory. -1: no memory. */
int sim_int_sdp(const struct sim_cube *input, struct sim_sdp *sdp);

/* SDP on halves in memory, or on FP32 patterns of a convolution (items of 4 bytes); operands are halves
 * or FP32 numbers, without converters and shifts, and so are the numbers of the look-up table. -1: no
 * memory. */
int sim_half_sdp(const struct sim_cube *input, struct sim_sdp *sdp);

enum { SIM_POOL_AVERAGE, SIM_POOL_MAXIMUM, SIM_POOL_MINIMUM };

/* PDP in integers, surface by surface. `pads[n]`: what n missing elements add to a sum. */
struct sim_pool {
    struct sim_cube input, output; /* with equal atoms and items */
    int32_t method, height, width, out_height, out_width;
    int32_t kernel_y, kernel_x, stride_y, stride_x, pad_top, pad_left;
    int32_t fill; /* of the largest or smallest */
    int32_t low, high;
    int32_t reciprocal_y, reciprocal_x; /* times 2^16 */
    int32_t pads[17];
};

/* -1: surfaces of more than 64 channels. */
int sim_int_pool(const struct sim_pool *pool);

/* PDP in fp16, surface by surface; averages are computed in FP17. Every window has an element of the
 * input. `across[n]`, `down[n]`: what n missing columns, or lines, add. */
struct sim_half_pool {
    struct sim_cube input, output; /* of 16 bits, with equal atoms and channels */
    int32_t method, height, width, out_height, out_width;
    int32_t kernel_y, kernel_x, stride_y, stride_x, pad_top, pad_left;
    int32_t nan_to_zero; /* in the input */
    double across[17], down[17], reciprocal_y, reciprocal_x;
    int64_t nan_inputs, infinite_inputs, nan_outputs; /* results */
};

/* -1: surfaces of more than 64 channels. */
int sim_half_pool(struct sim_half_pool *pool);

/* CDP in integers. Converters as in sim_converter; a value's neighbours are those up to `reach`
 * channels away, 0: it is looked up as it is, without squares. */
struct sim_cdp {
    struct sim_cube input, output; /* with equal atoms and items */
    int32_t height, width, channels; /* channels: the real ones */
    int32_t reach, multiply;
    double in_offset, in_factor, in_limit; /* from -in_limit to in_limit - 1 */
    double out_offset, out_factor, low, high;
    int32_t nan_to_zero; /* of sim_half_cdp */
    struct sim_lut *lut;
    int64_t clipped; /* result */
    int64_t nan_inputs, infinite_inputs, nan_outputs; /* of sim_half_cdp */
};

/* -1: no memory. */
int sim_int_cdp(struct sim_cdp *cdp);

/* The same in fp16, where converters do nothing. */
int sim_half_cdp(struct sim_cdp *cdp);

struct sim_copy {
    void *to;
    const void *source;
    uint64_t size;
};
void sim_copy_bytes(const struct sim_copy *copy);

/* One compiled function of a layer; `first` of its layer. Before a layer begins, `size` bytes at
 * `weights` must be those at `known`. */
enum {
    SIM_STEP_CONV,
    SIM_STEP_SDP,
    SIM_STEP_HALF_SDP,
    SIM_STEP_POOL,
    SIM_STEP_HALF_POOL,
    SIM_STEP_CDP,
    SIM_STEP_HALF_CDP,
    SIM_STEP_COPY
};
struct sim_step {
    int32_t kind, first;
    void *input;         /* struct sim_window, sim_cube, sim_pool, sim_half_pool, ... */
    struct sim_sdp *sdp; /* of the first three */
    const void *weights, *known;
    uint64_t size;
};

/* When it ended (CLOCK_MONOTONIC), and what it clipped and counted. */
struct sim_step_result {
    int64_t end_ns, clipped, saturated, overflowed;
    int64_t under, over, hybrid, le, lo; /* look-up tables */
    int64_t nan_inputs, infinite_inputs, nan_outputs;
};

/* Runs steps until all are done, it is later than `until_ns` and a layer is complete, or one cannot
 * begin: how many were done. *why: SIM_STEPS_*. */
enum { SIM_STEPS_DONE, SIM_STEPS_LATE, SIM_STEPS_CHANGED, SIM_STEPS_MEMORY };
int sim_int_steps(const struct sim_step *steps, int count, int64_t until_ns,
                  struct sim_step_result *results, int *why);

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

/* --- memory of this process (accessible.c) --------------------------------------------------- */

/* Whether all of a range may be read (or written). */
int sim_accessible(uint64_t address, uint64_t size, int write);

/* The same by /proc/self/maps, for systems that do not test it otherwise. */
int sim_accessible_by_table(uint64_t address, uint64_t size, int write);

/* --- UPMEM (dpu_memory.c, dpu_copy.c, dpu_clear.c, dpu_calls.c) ------------------------------ */

/*
 * Maps the file with the DPUs' memories, at `near` if the system has room there; 0: errno says why
 * not.
 */
uint64_t sim_dpu_map(int file, uint64_t size, uint64_t near);

/* Maps `size` bytes of it, from `offset`, at `start`; 0 when something else is there: errno. */
int sim_dpu_map_at(uint64_t start, int file, uint64_t offset, uint64_t size);
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
    uint32_t most_compared; /* blocks; a transfer of more is not looked through for overlaps */
    int overlap_fails;
    uint64_t token; /* of sim_dpu_token on the thread that calls the function */
};

enum {
    SIM_SG_DONE,
    SIM_SG_BLOCKS,
    SIM_SG_LENGTH,
    SIM_SG_ADDRESS,
    SIM_SG_MEMORY,
    SIM_SG_THREAD,
    SIM_SG_OVERLAP
};

/* Where it failed: DPU and block number as the program counts them. */
struct sim_dpu_sg_result {
    uint32_t dpu, block;
    uint64_t found;
    int overlaps; /* this block shares bytes with another one: */
    uint32_t other_dpu, other_block;
};

/* sim_dpu_keeps_to of dpu_span.h. */
int sim_dpu_may_copy(uint64_t end, uint32_t unit, uint64_t offset, uint64_t size);

/* Waits until no copy of the library, which Python does not see, is under way on a rank whose turn was
   taken (dpu_turn.h). */
void sim_dpu_await_turn(uint32_t *words);

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

/* Zeroes what there is of some bytes of the file, which is mapped at `base`; the pages stay. */
void sim_dpu_zero(int file, uint64_t base, uint64_t offset, uint64_t size);

/*
 * A dpu_callback function (`set`: a struct dpu_set_t) and a log's print function; *answer is what
 * they return. `token` is what sim_dpu_token answers on the thread that runs the function, 0
 * elsewhere.
 */
int sim_dpu_callback(void *function, const void *set, uint32_t number, void *arguments,
                     uint64_t token, int *answer);
uint64_t sim_dpu_token(void);
void sim_dpu_set_token(uint64_t token);
int sim_dpu_print(void *function, void *argument, const char *text, int *answer);

/* --- cuPVA: launches of a VPU worker (pva_gate.c) --------------------------------------------- */

/* `gate`: a struct pva_gate in the control file. Before the worker starts. */
void sim_pva_gate_reset(void *gate);

/* Begins a launch; 0: the worker is gone. `claimed`: the caller waits for it, no other may. */
int sim_pva_post(void *gate, int socket, int claimed);

enum { SIM_PVA_ANSWERED, SIM_PVA_GONE, SIM_PVA_LATE, SIM_PVA_OTHERS };
enum { SIM_PVA_AGAIN = 2 }; /* for `keep`: the launch was late, and is waited for once more */

/*
 * Waits for the launch, below 0 for ever: the outcome, plus 256 times what the worker's parent said of
 * its end, or 0. SIM_PVA_ANSWERED, SIM_PVA_GONE: the caller, and nobody else, works off the result.
 * SIM_PVA_OTHERS: somebody else waits, or has it. `keep`: the caller has claimed it and still has
 * when it was too late.
 */
int64_t sim_pva_wait(void *gate, int socket, int64_t timeout_us, int keep);

/* The same for a launch that has ended, or whose worker is `gone`; does not wait. */
int sim_pva_take(void *gate, int gone);

/*
 * What `count` commands say, in words that are equal where a submission says the same again: their own,
 * and the first of each fence that a command names. `mark`, below which kind and number of fences lie, is
 * what the first word of such a command begins with. The number of words; 0: more than `room`, or
 * something there is no memory.
 */
uint32_t sim_pva_said(const void *commands, uint32_t count, uint64_t mark, uint64_t *said, uint32_t room);

/* Whether they say what they said. */
int sim_pva_same(const void *commands, uint32_t count, uint64_t mark, const uint64_t *said, uint32_t words);

#endif
