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

static void begin(struct dpu *dpu, uint8_t *slot, bool timed)
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
    isa_decode_iram(dpu);
    for (uint32_t n = 0; n < MAX_TASKLETS; n++)
        begin_tasklet(dpu, n);
    dpu->nr_sleepers = dpu->running = 0;
    dpu->head = NULL;
    dpu->alarm = ~0ull;
}

void isa_begin(struct dpu *dpu, uint8_t *slot, bool timed)
{
    begin(dpu, slot, timed);
    dpu->side->times = (struct dpu_times){0};
    memset(dpu->core->run, 0, sizeof dpu->core->run);
    dpu->part = 0;
    dpu->now = dpu->engine_free = 0;
    dpu->last_row = ~0u;
    dpu->counts = COUNT_CYCLES;
    dpu->counter_base = dpu->counter_kept = 0;
    isa_start(dpu, 0, true);
}

static void resume_tasklet(struct dpu *dpu, uint32_t n)
{
    const struct dpu_core *core = dpu->core;
    struct tasklet *t = &dpu->tasklets[n];
    t->started = core->started[n];
    t->since = core->since[n];
    t->instructions = core->instructions[n];
    t->retries = t->times->retries;
    if (!core->live[n])
        return;
    t->pending = dpu->timed ? core->pending[n] : 0;
    t->state = dpu->timed ? SLEEPS : RUNS;
    t->until = core->due[n];
}

/* Goes on where it has stopped; `only`: one tasklet alone, MAX_TASKLETS: all. */
void isa_resume(struct dpu *dpu, uint8_t *slot, bool timed, uint32_t only)
{
    begin(dpu, slot, timed);
    const struct dpu_core *core = dpu->core;
    dpu->part = core->part;
    dpu->now = core->cycles;
    dpu->engine_free = core->engine_free;
    dpu->last_row = core->last_row;
    dpu->counts = (enum counts)(core->counts & 3);
    dpu->counter_base = core->counter_base;
    dpu->counter_kept = core->counter_kept;
    for (uint32_t n = 0; n < MAX_TASKLETS; n++) {
        struct tasklet *t = &dpu->tasklets[n];
        resume_tasklet(dpu, n);
        if (t->state == STOPPED || (only < MAX_TASKLETS && n != only))
            continue;
        if (timed)
            pipeline_sleep(dpu, t, t->until);
        else
            dpu->running++;
    }
}

/* Of each tasklet that runs the cycle of its next instruction; `until` of a sleeper is that already. */
static void note_due(struct dpu *dpu)
{
    uint64_t due = dpu->now;
    struct tasklet *t = dpu->head;
    for (uint32_t left = dpu->timed ? dpu->running : 0; left > 0 && t != NULL; left--) {
        t->until = due;
        due += t->step;
        t = t->next;
    }
    if (!dpu->timed)
        for (uint32_t n = 0; n < MAX_TASKLETS; n++)
            dpu->tasklets[n].until = due;
}

static uint64_t end_tasklets(struct dpu *dpu)
{
    struct dpu_core *core = dpu->core;
    uint64_t instructions = 0;
    note_due(dpu);
    for (uint32_t n = 0; n < MAX_TASKLETS; n++) {
        struct tasklet *t = &dpu->tasklets[n];
        memcpy(core->registers[n], t->r, sizeof core->registers[n]);
        core->zero[n] = t->z == 0;
        core->carry[n] = t->carry != 0;
        core->pc[n] = (uint16_t)isa_index(dpu, t->pc);
        core->live[n] = t->state != STOPPED;
        core->started[n] = t->started;
        core->pending[n] = t->pending;
        core->due[n] = t->until;
        core->since[n] = t->since;
        core->instructions[n] = t->instructions;
        t->instructions -= t->pending;
        t->times->half_instructions = 2 * t->instructions;
        t->times->retries = t->retries;
        instructions += t->instructions;
    }
    core->part = dpu->part;
    core->cycles = dpu->now;
    core->engine_free = dpu->engine_free;
    core->last_row = dpu->last_row;
    core->counts = dpu->counts;
    core->counter_base = dpu->counter_base;
    core->counter_kept = dpu->counter_kept;
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
