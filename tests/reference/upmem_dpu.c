/* The DPU program of this folder's host programs, made with -DNR_TASKLETS=4. */
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <stdint.h>
#include <stdio.h>
#include <wramfifo.h>

#define SHARE 8 /* words of `input` that each tasklet adds up */

INPUT_FIFO_INIT(input_fifo, 2, 16);
OUTPUT_FIFO_INIT(output_fifo, 3, 8);
BARRIER_INIT(barrier, NR_TASKLETS);
STDOUT_BUFFER_INIT(1024)

/* What a launch does. 0: sums; 1: takes from the FIFO until `active` is 0; 2: a fault. */
__host uint32_t mode;
__host uint32_t factor = 1;
__host uint32_t launches;
__host uint64_t sums[NR_TASKLETS];
__host volatile uint64_t active = 1;
__mram uint64_t input[SHARE * NR_TASKLETS];

static void ignore(uint8_t *pair, void *context)
{
    (void)pair;
    (void)context;
}

static void multiply(uint8_t *pair, uint8_t *product, void *context)
{
    const uint64_t *factors = (const uint64_t *)pair;
    (void)context;
    *(uint64_t *)product = factors[0] * factors[1];
}

static void add_up(void)
{
    __dma_aligned uint64_t share[SHARE];
    uint64_t sum = 0;
    mram_read(&input[SHARE * me()], share, sizeof share);
    for (int i = 0; i < SHARE; i++)
        sum += share[i];
    sums[me()] = factor * sum;
}

int main(void)
{
    if (me() == 0)
        printf("launch %u\n", ++launches);
    if (mode == 0)
        add_up();
    else if (mode == 1)
        process_inputs_all_tasklets(&input_fifo, &output_fifo, ignore, multiply, 0, &barrier,
                                    &active);
    else
        halt();
    return 0;
}
