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
    dpu->side->state = STATE_FAULT;
}

/* Nobody runs any more. In a program that says where its tasklets end, others wait for ever. */
void isa_end(struct dpu *dpu)
{
    uint32_t end = dpu->core->end, waiting = 0;
    struct dpu_side *side = dpu->side;
    for (uint32_t n = 0; n < MAX_TASKLETS; n++) {
        const struct tasklet *t = &dpu->tasklets[n];
        uint32_t index = isa_index(dpu, t->pc);
        bool ended = end == NO_ADDRESS || index == end || !t->started;
        uint32_t kind = ended ? WAIT_ENDED : t->state == STOPPED ? WAIT_STOPPED : WAIT_NONE;
        side->waits[n] = (struct dpu_wait){kind, 0, byte_address(index)};
        waiting += kind == WAIT_STOPPED;
    }
    if (waiting && side->state != STATE_FAULT) {
        side->fault = (struct dpu_event){.kind = FAULT_DEADLOCK};
        side->state = STATE_FAULT;
    }
}
