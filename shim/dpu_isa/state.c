/* A DPU's registers and flags on their way from and to its slot. */
#include "isa.h"

#include <string.h>

static void begin_tasklet(struct dpu *dpu, uint32_t n)
{
    const struct dpu_core *core = dpu->core;
    struct tasklet *t = &dpu->tasklets[n];
    memset(t, 0, sizeof *t);
    t->number = (uint8_t)n;
    t->state = STOPPED;
    t->times = &dpu->side->times.tasklets[n];
    memcpy(t->r, core->registers[n], sizeof core->registers[n]);
    const uint32_t constants[] = {0, 1, 0xffffffff, 0x80000000, n, 2 * n, 4 * n, 8 * n};
    memcpy(t->r + R_ZERO, constants, sizeof constants);
    t->z = !core->zero[n];
    t->carry = core->carry[n] != 0;
    uint32_t pc = core->pc[n];
    t->pc = dpu->code + (pc < dpu->iram_instructions ? pc : dpu->iram_instructions);
}

void isa_begin(struct dpu *dpu, uint8_t *slot, bool timed)
{
    dpu->mram = slot + SLOT_MRAM;
    dpu->wram = slot + SLOT_WRAM;
    dpu->iram = slot + SLOT_IRAM;
    dpu->written = slot + SLOT_WRITTEN;
    dpu->side = (struct dpu_side *)(slot + SLOT_SIDE);
    dpu->core = (struct dpu_core *)(slot + SLOT_CORE);
    struct dpu_core *core = dpu->core;
    dpu->wram_bytes = core->wram_bytes < WRAM_SIZE ? core->wram_bytes & ~7u : WRAM_SIZE;
    uint32_t instructions = core->iram_instructions;
    dpu->iram_instructions = instructions < IRAM_INSTRUCTIONS ? instructions : IRAM_INSTRUCTIONS;
    dpu->timed = timed;
    dpu->side->times = (struct dpu_times){0};
    isa_decode_iram(dpu);
    memset(core->run, 0, sizeof core->run);
    for (uint32_t n = 0; n < MAX_TASKLETS; n++)
        begin_tasklet(dpu, n);
    dpu->nr_sleepers = dpu->running = dpu->part = 0;
    dpu->head = NULL;
    dpu->now = dpu->engine_free = 0;
    dpu->alarm = ~0ull;
    dpu->last_row = ~0u;
    dpu->counts = COUNT_CYCLES;
    dpu->counter_base = dpu->counter_kept = 0;
    isa_start(dpu, 0, true);
}

static uint64_t end_tasklets(struct dpu *dpu)
{
    struct dpu_core *core = dpu->core;
    uint64_t instructions = 0;
    for (uint32_t n = 0; n < MAX_TASKLETS; n++) {
        struct tasklet *t = &dpu->tasklets[n];
        memcpy(core->registers[n], t->r, sizeof core->registers[n]);
        core->zero[n] = t->z == 0;
        core->carry[n] = t->carry != 0;
        core->pc[n] = (uint16_t)isa_index(dpu, t->pc);
        t->instructions -= t->pending;
        t->times->half_instructions = 2 * t->instructions;
        t->times->retries = t->retries;
        instructions += t->instructions;
    }
    return instructions;
}

void isa_finish(struct dpu *dpu)
{
    struct dpu_side *side = dpu->side;
    isa_end(dpu);
    side->instructions = end_tasklets(dpu);
    side->cycles = dpu->now;
    side->nr_tasklets = dpu->core->nr_tasklets;
    side->times.counted = dpu->timed;
}
