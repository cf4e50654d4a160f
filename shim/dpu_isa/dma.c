/* The DMA engine: moves bytes at once, and says when the tasklet goes on. */
#include "../dpu_run/hardware.h"
#include "isa.h"

#include <string.h>

/* The host's map of words that were ever written. */
static void mark_written(struct dpu *dpu, uint32_t offset, uint32_t bytes)
{
    for (uint32_t word = offset / 8, end = (offset + bytes) / 8; word < end; word++)
        dpu->written[word >> 3] |= (uint8_t)(1u << (word & 7));
}

static void take_time(struct dpu *dpu, struct tasklet *t, uint32_t offset, uint32_t bytes, bool write)
{
    uint64_t start = dpu->now > dpu->engine_free ? dpu->now : dpu->engine_free;
    uint64_t extra = dma_row_cycles(&dpu->last_row, offset, bytes, write);
    *(write ? &t->times->dma_written : &t->times->dma_read) += bytes;
    t->times->dma_transfers++;
    dpu->side->times.engine_cycles += BYTES_CYCLES(bytes) + extra;
    dpu->engine_free = start + BYTES_CYCLES(bytes) + extra;
    uint64_t back = start + BYTES_CYCLES(bytes) + (write ? WRITE_LATENCY : READ_LATENCY);
    back = back > dpu->engine_free ? back : dpu->engine_free;
    t->times->dma_cycles += back - dpu->now;
    pipeline_sleep(dpu, t, back);
}

uint32_t isa_dma(struct dpu *dpu, struct tasklet *t, const struct insn *i, enum dma kind)
{
    const struct transfer wanted = isa_transfer(t, i);
    uint32_t bytes = wanted.bytes, near = wanted.near, far = wanted.far;
    uint32_t limit = kind == DMA_CODE ? dpu->iram_instructions * INSTRUCTION_BYTES : dpu->wram_bytes;
    dpu->bad_size = bytes;
    if (near > limit || bytes > limit - near) {
        dpu->bad_address = near;
        return FAULT_DMA_WRAM;
    }
    if (bytes > MRAM_SIZE - far) {
        dpu->bad_address = far;
        return FAULT_MRAM_BOUNDS;
    }
    if (kind == DMA_WRITE) {
        memcpy(dpu->mram + far, dpu->wram + near, bytes);
        mark_written(dpu, far, bytes);
    } else if (kind == DMA_READ) {
        memcpy(dpu->wram + near, dpu->mram + far, bytes);
    } else {
        memcpy(dpu->iram + near, dpu->mram + far, bytes);
        isa_decode_changed(dpu, near / INSTRUCTION_BYTES, bytes / INSTRUCTION_BYTES);
    }
    if (dpu->timed)
        take_time(dpu, t, far, bytes, kind == DMA_WRITE);
    else
        dpu->now += BYTES_CYCLES(bytes) + ROW_SAME;
    return FAULT_NONE;
}
