/* What the host learns of a DPU that has stopped. */
#include "isa.h"

static uint64_t byte_address(uint64_t index)
{
    return IRAM_BASE + index * INSTRUCTION_BYTES;
}

void isa_fault(struct dpu *dpu, struct tasklet *t, const struct insn *i, uint32_t kind, uint32_t code,
    uint64_t address, uint32_t size)
{
    struct dpu_event *fault = &dpu->side->fault;
    uint32_t index = isa_index(dpu, i);
    *fault = (struct dpu_event){.kind = kind, .code = code, .tasklet = t->number, .size = size};
    fault->pc = byte_address(index);
    fault->address = kind == FAULT_JUMP ? byte_address(address) : address;
    fault->other = index < IRAM_INSTRUCTIONS ? dpu->words[index] : 0;
    fault->other_tasklet = t->r[22];
    t->pc = i;
    dpu->head = t;
    dpu->side->state = STATE_FAULT;
}

/* As a debugger wished, before it executes its next instruction. */
void isa_stopped(struct dpu *dpu, const struct tasklet *t)
{
    dpu->side->fault = (struct dpu_event){.kind = FAULT_STOPPED, .tasklet = t->number};
    dpu->side->fault.pc = byte_address(isa_index(dpu, t->pc));
    dpu->side->state = STATE_FAULT;
}

/* It has stopped where the run-time system lets tasklets wait for others. */
static bool waits(const struct dpu_core *core, uint32_t index)
{
    for (uint32_t n = 0; n < WAIT_FUNCTIONS; n++)
        if (index >= core->wait_first[n] && index < core->wait_end[n])
            return true;
    return false;
}

/*
 * Nobody runs any more. A tasklet that waits at a barrier waits for ever then. One that has stopped in
 * the program's own code may be meant to: the hardware takes it for an end.
 */
void isa_end(struct dpu *dpu)
{
    struct dpu_side *side = dpu->side;
    bool waiting = false;
    for (uint32_t n = 0; n < MAX_TASKLETS; n++) {
        const struct tasklet *t = &dpu->tasklets[n];
        uint32_t index = isa_index(dpu, t->pc);
        bool here = t->started && t->state == STOPPED && waits(dpu->core, index);
        side->waits[n] = (struct dpu_wait){here ? WAIT_STOPPED : WAIT_ENDED, 0, byte_address(index)};
        waiting |= here;
    }
    if (!waiting || side->state == STATE_FAULT || dpu->deadlock == CHECK_OFF)
        return;
    const struct dpu_event event = {.kind = FAULT_DEADLOCK};
    if (dpu->deadlock == CHECK_WARN) {
        side->warnings[side->nr_warnings++] = event;
        return;
    }
    side->fault = event;
    side->state = STATE_FAULT;
}
