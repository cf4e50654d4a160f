/* Queues between host and DPU in WRAM (wramfifo.h). The host moves its pointers while we run. */
#include <barrier.h>
#include <defs.h>
#include <string.h>

#define NR_TASKLETS 24
#include <wramfifo.h>

#include "rt.h"

extern char tasklets[] __asm__("NR_TASKLETS") __attribute__((visibility("default")));

static volatile uint64_t stop_seen;

API bool is_input_fifo_empty(struct dpu_input_fifo_t *fifo)
{
    return fifo->read_ptr == fifo->write_ptr;
}

API uint8_t *input_fifo_peek(struct dpu_input_fifo_t *fifo)
{
    return &fifo->data[MASK_WRAM_FIFO_PTR(fifo->ptr_size, fifo->read_ptr) * fifo->data_size];
}

API void input_fifo_pop(struct dpu_input_fifo_t *fifo)
{
    fifo->read_ptr++;
}

API bool is_output_fifo_full(struct dpu_output_fifo_t *fifo)
{
    return fifo->write_ptr - fifo->read_ptr >= (1ull << fifo->ptr_size);
}

API void output_fifo_push(struct dpu_output_fifo_t *fifo, const uint8_t *data)
{
    while (is_output_fifo_full(fifo))
        rt_yield();
    uint64_t at = MASK_WRAM_FIFO_PTR(fifo->ptr_size, fifo->write_ptr);
    memcpy(&fifo->data[at * fifo->data_size], data, fifo->data_size);
    fifo->write_ptr++;
}

API void process_inputs_each_tasklet(struct dpu_input_fifo_t *input,
    struct dpu_output_fifo_t *output, void (*process)(uint8_t *, uint8_t *, void *), void *context,
    volatile uint64_t *exit)
{
    uint8_t *in = input->tmp_data + me() * input->data_size;
    uint8_t *out = output->tmp_data + me() * output->data_size;
    for (;;) {
        if (is_input_fifo_empty(input)) {
            if (*exit)
                return;
            rt_yield();
            continue;
        }
        memcpy(in, input_fifo_peek(input), input->data_size);
        input_fifo_pop(input);
        process(in, out, context);
        output_fifo_push(output, out);
    }
}

API void process_inputs_all_tasklets(struct dpu_input_fifo_t *input,
    struct dpu_output_fifo_t *output, void (*process)(uint8_t *, void *),
    void (*reduce)(uint8_t *, void *), void *context, volatile uint64_t *exit)
{
    static barrier_t together;
    uint8_t count = (uint8_t)(uintptr_t)tasklets;
    if (me() == 0) {
        together = (barrier_t){0xff, count, count, 0};
        stop_seen = 0;
    }
    rt_yield();
    for (;;) {
        if (me() == 0)
            while (is_input_fifo_empty(input) && !(stop_seen = *exit))
                rt_yield();
        barrier_wait(&together);
        if (stop_seen)
            return;
        process(input_fifo_peek(input), context);
        barrier_wait(&together);
        if (me() == 0) {
            reduce(output->tmp_data, context);
            input_fifo_pop(input);
            output_fifo_push(output, output->tmp_data);
        }
        barrier_wait(&together);
    }
}
