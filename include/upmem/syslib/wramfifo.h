/* First-in first-out queues in WRAM between the host and the DPU. */
#ifndef UPMEM_SYSLIB_WRAMFIFO_H
#define UPMEM_SYSLIB_WRAMFIFO_H

#include <attributes.h>
#include <macro_utils.h>
#include <stdbool.h>
#include <stdint.h>

/* Pointers count elements and never wrap; `ptr_size` is the log2 of the number of elements. */
struct dpu_input_fifo_t {
    volatile uint64_t write_ptr;
    volatile uint64_t read_ptr;
    uint8_t *data;
    uint8_t *tmp_data;
    uint32_t ptr_size;
    uint32_t data_size;
    uint64_t reserved;
};

struct dpu_output_fifo_t {
    volatile uint64_t write_ptr;
    volatile uint64_t read_ptr;
    uint8_t *data;
    uint8_t *tmp_data;
    uint32_t ptr_size;
    uint32_t data_size;
    uint64_t reserved;
};

#define MASK_WRAM_FIFO_PTR(ptr_size, ptr) ((ptr) & ((1u << (ptr_size)) - 1u))

#define __RT_FIFO_STORAGE(NAME, LOG_NB, SIZE) \
    _Static_assert((SIZE) % 8 == 0, "the size of an element must be a multiple of 8"); \
    __host uint8_t __CONCAT(NAME, _data)[(1u << (LOG_NB)) * (SIZE)]; \
    __dma_aligned uint8_t __CONCAT(NAME, _tmp_data)[NR_TASKLETS * (SIZE)]

#define INPUT_FIFO_INIT(NAME, LOG_NB, SIZE) \
    __RT_FIFO_STORAGE(NAME, LOG_NB, SIZE); \
    __host struct dpu_input_fifo_t NAME \
        = { 0, 0, __CONCAT(NAME, _data), __CONCAT(NAME, _tmp_data), (LOG_NB), (SIZE), 0 }

#define OUTPUT_FIFO_INIT(NAME, LOG_NB, SIZE) \
    __RT_FIFO_STORAGE(NAME, LOG_NB, SIZE); \
    __host struct dpu_output_fifo_t NAME \
        = { 0, 0, __CONCAT(NAME, _data), __CONCAT(NAME, _tmp_data), (LOG_NB), (SIZE), 0 }

bool is_input_fifo_empty(struct dpu_input_fifo_t *fifo);
uint8_t *input_fifo_peek(struct dpu_input_fifo_t *fifo);
void input_fifo_pop(struct dpu_input_fifo_t *fifo);
bool is_output_fifo_full(struct dpu_output_fifo_t *fifo);
void output_fifo_push(struct dpu_output_fifo_t *fifo, const uint8_t *data);

/*
 * Until *exit is not 0: takes inputs, calls process(input, output, context), pushes the output.
 * "each": a tasklet takes an input of its own; "all": all tasklets work on the same input, then
 * tasklet 0 calls reduce(output, context).
 */
void process_inputs_each_tasklet(struct dpu_input_fifo_t *input, struct dpu_output_fifo_t *output,
    void (*process)(uint8_t *input, uint8_t *output, void *context), void *context,
    volatile uint64_t *exit);
void process_inputs_all_tasklets(struct dpu_input_fifo_t *input, struct dpu_output_fifo_t *output,
    void (*process)(uint8_t *input, void *context), void (*reduce)(uint8_t *output, void *context),
    void *context, volatile uint64_t *exit);

#endif
