/* The interpreter of DPU instructions as one function for tests: registers and memories in and out. */
#include "dpu_isa/isa.h"

#include <string.h>

static struct dpu dpu;

struct bench {
    uint32_t registers[MAX_TASKLETS][NR_REGISTERS];
    uint32_t pc[MAX_TASKLETS];
    uint8_t zero[MAX_TASKLETS], carry[MAX_TASKLETS], atomic[ATOMIC_BITS], run[RUN_BITS];
    uint32_t fault, code, tasklet, fault_pc;
    uint64_t instructions;
};

/* Runs what lies in the slot's IRAM, tasklet 0 from its first instruction. */
void bench_run(uint8_t *slot, struct bench *b, int timed)
{
    struct dpu_core *core = (struct dpu_core *)(slot + SLOT_CORE);
    struct dpu_side *side = (struct dpu_side *)(slot + SLOT_SIDE);
    memset(core, 0, sizeof *core);
    memset(side, 0, sizeof *side);
    core->nr_tasklets = MAX_TASKLETS;
    core->wram_bytes = WRAM_SIZE;
    core->iram_instructions = IRAM_INSTRUCTIONS;
    memcpy(core->registers, b->registers, sizeof b->registers);
    memcpy(core->zero, b->zero, sizeof b->zero);
    memcpy(core->carry, b->carry, sizeof b->carry);
    memcpy(core->atomic, b->atomic, sizeof b->atomic);
    isa_begin(&dpu, slot, timed != 0);
    side->state = STATE_RUNNING;
    if (timed)
        isa_execute_timed(&dpu);
    else
        isa_execute_fast(&dpu);
    isa_finish(&dpu);
    memcpy(b->registers, core->registers, sizeof b->registers);
    memcpy(b->zero, core->zero, sizeof b->zero);
    memcpy(b->carry, core->carry, sizeof b->carry);
    memcpy(b->atomic, core->atomic, sizeof b->atomic);
    memcpy(b->run, core->run, sizeof b->run);
    for (int n = 0; n < MAX_TASKLETS; n++)
        b->pc[n] = core->pc[n];
    b->fault = side->fault.kind;
    b->code = side->fault.code;
    b->tasklet = side->fault.tasklet;
    b->fault_pc = (uint32_t)((side->fault.pc - IRAM_BASE) / INSTRUCTION_BYTES);
    b->instructions = side->instructions;
}
