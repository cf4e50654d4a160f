/* First-in first-out queues in WRAM between the host and a DPU that runs. */
#ifndef UPMEM_SYSLIB_WRAMFIFO_H
#define UPMEM_SYSLIB_WRAMFIFO_H

#include <attributes.h>
#include <barrier.h>
#include <macro_utils.h>
#include <mutex.h>
#include <stdbool.h>
#include <stdint.h>

__RT_C_BEGIN

/*
 * Positions count elements from the start and never wrap; 1 << ptr_size elements have room. The host
 * knows this layout: 16 bytes of positions, ptr_size at 24, data_size at 28.
 */
struct dpu_input_fifo_t {
    uint64_t read_ptr;           /* the DPU's */
    volatile uint64_t write_ptr; /* the host's */
    uint8_t *data;
    uint8_t *tmp_data; /* one element a tasklet */
    const uint32_t ptr_size;
    const uint32_t data_size; /* bytes of an element */
};

struct dpu_output_fifo_t {
    volatile uint64_t read_ptr; /* the host's */
    uint64_t write_ptr;         /* the DPU's */
    uint8_t *data;
    uint8_t *tmp_data;
    const uint32_t ptr_size;
    const uint32_t data_size;
    uint32_t nb_reserved; /* elements that tasklets are about to push */
};

#define WRAM_FIFO_SIZE(FIFO_PTR_SIZE) (1 << FIFO_PTR_SIZE)
#define MASK_WRAM_FIFO_PTR(FIFO_PTR_SIZE, x) ((x) & ((1U << (FIFO_PTR_SIZE)) - 1))
#define __get_fifo_data_name(fifo_name) __CONCAT(__CONCAT(__, fifo_name), _data)
#define __get_fifo_tmp_data_name(fifo_name) __CONCAT(__CONCAT(__, fifo_name), _tmp_data)

#define __RT_FIFO(KIND, NAME, PTR_SIZE, DATA_SIZE, ...) \
    _Static_assert((PTR_SIZE) <= 10, "wram fifo: a position has at most 10 bits"); \
    _Static_assert((DATA_SIZE) && ((DATA_SIZE) & 7) == 0, \
        "wram fifo: the size of an element is a multiple of 8, and not 0"); \
    __host uint8_t __get_fifo_data_name(NAME)[(1 << (PTR_SIZE)) * (DATA_SIZE)]; \
    __dma_aligned uint8_t __get_fifo_tmp_data_name(NAME)[NR_TASKLETS * (DATA_SIZE)]; \
    __host struct KIND NAME = { 0, 0, __get_fifo_data_name(NAME), __get_fifo_tmp_data_name(NAME), \
        (PTR_SIZE), (DATA_SIZE) __VA_ARGS__ };

#define INPUT_FIFO_INIT(name, INPUT_FIFO_PTR_SIZE, INPUT_FIFO_DATA_SIZE) \
    __RT_FIFO(dpu_input_fifo_t, name, INPUT_FIFO_PTR_SIZE, INPUT_FIFO_DATA_SIZE)

#define OUTPUT_FIFO_INIT(name, OUTPUT_FIFO_PTR_SIZE, OUTPUT_FIFO_DATA_SIZE) \
    __RT_FIFO(dpu_output_fifo_t, name, OUTPUT_FIFO_PTR_SIZE, OUTPUT_FIFO_DATA_SIZE, , 0)

bool is_input_fifo_empty(struct dpu_input_fifo_t *fifo);
uint8_t *input_fifo_peek(struct dpu_input_fifo_t *fifo);
void input_fifo_pop(struct dpu_input_fifo_t *fifo);
bool is_output_fifo_full(struct dpu_output_fifo_t *fifo);
void output_fifo_push(struct dpu_output_fifo_t *fifo, const uint8_t *data);

/*
 * As long as *active is not 0 or an input is left. "all": the tasklets work on one input together, then
 * tasklet 0 calls reduce(input, output, ctx) and pushes the output; the barrier is that of all tasklets.
 * "each": a tasklet takes an input of its own under the mutex.
 */
void process_inputs_all_tasklets(struct dpu_input_fifo_t *input_fifo,
    struct dpu_output_fifo_t *output_fifo, void (*process_input)(uint8_t *, void *),
    void (*reduce)(uint8_t *, uint8_t *, void *), void *ctx, barrier_t *barrier,
    volatile uint64_t *active);
void process_inputs_each_tasklet(struct dpu_input_fifo_t *input_fifo,
    struct dpu_output_fifo_t *output_fifo, void (*process_input)(uint8_t *, uint8_t *),
    mutex_id_t mutex, volatile uint64_t *active);

__RT_C_END

#endif
