/*
 * Queues between host and DPU in WRAM (wramfifo.h). The host moves its positions while we run; who looks
 * and finds nothing to do lets other tasklets run, and after many looks other processes: the DPUs of a set
 * share the processors with each other and with the host that they wait for.
 */
#include <defs.h>
#include <string.h>

#define NR_TASKLETS 24
#include <wramfifo.h>

#include "rt.h"

#define LOOKS 256
#define FIRST_NAP_NS 20000
#define LONGEST_NAP_NS 2000000

static void wait_for_host(bool idle)
{
    static uint32_t looks;
    static int64_t nap_ns = FIRST_NAP_NS;
    if (!idle) {
        looks = 0;
        nap_ns = FIRST_NAP_NS;
        return;
    }
    if (++looks >= LOOKS) {
        const int64_t nap[2] = {0, nap_ns};
        looks = LOOKS - NR_TASKLETS; /* one look of each tasklet between naps that grow */
        nap_ns = nap_ns * 2 < LONGEST_NAP_NS ? nap_ns * 2 : LONGEST_NAP_NS;
        rt_syscall(35 /* nanosleep */, (uint64_t)(uintptr_t)nap, 0, 0, 0, 0, 0);
    }
    rt_yield();
}

API bool is_input_fifo_empty(struct dpu_input_fifo_t *fifo)
{
    bool empty = fifo->read_ptr == fifo->write_ptr;
    wait_for_host(empty);
    return empty;
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
    uint64_t taken = fifo->write_ptr + fifo->nb_reserved - fifo->read_ptr;
    bool full = taken != 0 && MASK_WRAM_FIFO_PTR(fifo->ptr_size, taken) == 0;
    wait_for_host(full);
    return full;
}

API void output_fifo_push(struct dpu_output_fifo_t *fifo, const uint8_t *data)
{
    uint64_t at = MASK_WRAM_FIFO_PTR(fifo->ptr_size, fifo->write_ptr);
    memcpy(&fifo->data[at * fifo->data_size], data, fifo->data_size);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* the host sees an element before its position */
    fifo->write_ptr++;
}

API void process_inputs_all_tasklets(struct dpu_input_fifo_t *input_fifo,
    struct dpu_output_fifo_t *output_fifo, void (*process_input)(uint8_t *, void *),
    void (*reduce)(uint8_t *, uint8_t *, void *), void *ctx, barrier_t *barrier,
    volatile uint64_t *active)
{
    for (;;) {
        if (is_input_fifo_empty(input_fifo)) {
            if (!*active)
                return;
            continue;
        }
        if (is_output_fifo_full(output_fifo))
            continue;
        barrier_wait(barrier);
        uint8_t *input = input_fifo_peek(input_fifo);
        process_input(input, ctx);
        barrier_wait(barrier);
        if (me() == 0) {
            reduce(input, output_fifo->tmp_data, ctx);
            output_fifo_push(output_fifo, output_fifo->tmp_data);
            input_fifo_pop(input_fifo);
        }
        barrier_wait(barrier);
    }
}

/* Takes an input and a place for its output; false when either is missing. */
static bool take(struct dpu_input_fifo_t *input_fifo, struct dpu_output_fifo_t *output_fifo,
    uint8_t *input, mutex_id_t mutex)
{
    mutex_lock(mutex);
    bool found = !is_input_fifo_empty(input_fifo) && !is_output_fifo_full(output_fifo);
    if (found) {
        memcpy(input, input_fifo_peek(input_fifo), input_fifo->data_size);
        input_fifo_pop(input_fifo);
        output_fifo->nb_reserved++;
    }
    mutex_unlock(mutex);
    return found;
}

API void process_inputs_each_tasklet(struct dpu_input_fifo_t *input_fifo,
    struct dpu_output_fifo_t *output_fifo, void (*process_input)(uint8_t *, uint8_t *),
    mutex_id_t mutex, volatile uint64_t *active)
{
    uint8_t *input = input_fifo->tmp_data + me() * input_fifo->data_size;
    uint8_t *output = output_fifo->tmp_data + me() * output_fifo->data_size;
    for (;;) {
        if (is_input_fifo_empty(input_fifo)) {
            if (!*active)
                return;
            continue;
        }
        if (is_output_fifo_full(output_fifo) || !take(input_fifo, output_fifo, input, mutex))
            continue;
        process_input(input, output);
        mutex_lock(mutex);
        output_fifo_push(output_fifo, output);
        output_fifo->nb_reserved--;
        mutex_unlock(mutex);
    }
}
