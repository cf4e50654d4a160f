/*
 * Cycles of a DPU: the pipeline and the DMA engine. Both models of it use these numbers, the one of
 * programs for this host (times.c) and the one of the vendor's instructions (dpu_isa).
 *
 * Source: facts of DPU timing, sections 2 and 5.
 */
#ifndef DPU_RUN_HARDWARE_H
#define DPU_RUN_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

#define ISSUE 11u        /* cycles from an instruction of a tasklet to its next */
/* Cycles from the issue of a transfer to the tasklet's next one, and 0.52 a byte. PrIM's 77 and 61 have
 * one instruction more between the two reads of the counter. */
#define READ_LATENCY 66u
#define WRITE_LATENCY 50u
#define BYTES_CYCLES(n) ((uint64_t)(n) * 52 / 100)
#define ROW_BYTES 1024u
/* Cycles that a transfer keeps the engine beside its bytes. The facts have 50 for reads and writes of
 * another row; with transfers of 16 tasklets in the queue, writes of 50 would make random updates of
 * single words take 108 cycles, hardware needs 77. */
#define ROW_OTHER_READ 50u
#define ROW_OTHER_WRITE 19u
#define ROW_SAME 15u
#define ROW_NEXT 25u

/* Of a transfer beside its bytes; `last_row`: where the one before ended, ~0 for none. */
static inline uint32_t dma_row_cycles(uint32_t *last_row, uint32_t offset, uint32_t size, bool write)
{
    uint32_t row = offset / ROW_BYTES, end = (offset + size - 1) / ROW_BYTES;
    uint32_t extra = row == *last_row ? ROW_SAME : write ? ROW_OTHER_WRITE : ROW_OTHER_READ;
    *last_row = end;
    return extra + (end - row) * ROW_NEXT;
}

#endif
