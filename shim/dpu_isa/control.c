/* Starting and stopping tasklets, and the time counter. */
#include "../dpu_run/hardware.h"
#include "isa.h"

/* resume and boot: 0 when it runs now because of this, 1 when it ran already. */
uint32_t isa_start(struct dpu *dpu, uint32_t number, bool at_zero)
{
    uint8_t *run = &dpu->core->run[number % RUN_BITS];
    if (*run)
        return 1;
    *run = 1;
    if (number % RUN_BITS >= MAX_TASKLETS)
        return 0; /* a flag */
    struct tasklet *t = &dpu->tasklets[number % RUN_BITS];
    if (at_zero)
        t->pc = dpu->code;
    else if (t->started)
        t->times->wait_cycles += dpu->now - t->since;
    t->started = true;
    if (dpu->timed) {
        pipeline_sleep(dpu, t, dpu->now + ISSUE);
    } else {
        t->state = RUNS;
        dpu->running++;
    }
    return 0;
}

/* Its pc is where it goes on. In the pipeline it is taken out by who calls this. */
void isa_stop(struct dpu *dpu, struct tasklet *t)
{
    t->state = STOPPED;
    t->since = dpu->now;
    t->times->end_cycles = dpu->now;
    dpu->core->run[t->number] = 0;
    if (!dpu->timed)
        dpu->running--;
}

uint32_t isa_read_run(struct dpu *dpu, uint32_t number)
{
    return dpu->core->run[number % RUN_BITS];
}

/* What becomes of a tasklet whose bit another one clears nobody has published. */
bool isa_may_clear_run(struct dpu *dpu, uint32_t number)
{
    return number % RUN_BITS >= MAX_TASKLETS || !dpu->core->run[number % RUN_BITS];
}

uint32_t isa_clear_run(struct dpu *dpu, uint32_t number)
{
    uint8_t *run = &dpu->core->run[number % RUN_BITS];
    uint32_t old = *run;
    *run = 0;
    return old;
}

static uint64_t counted(const struct dpu *dpu)
{
    uint64_t sum = 0;
    if (dpu->counts == COUNT_CYCLES)
        return dpu->now;
    if (dpu->counts == COUNT_INSTRUCTIONS)
        for (uint32_t n = 0; n < MAX_TASKLETS; n++)
            sum += dpu->tasklets[n].instructions - dpu->tasklets[n].pending;
    return sum;
}

static uint64_t value(const struct dpu *dpu)
{
    return dpu->counter_kept + counted(dpu) - dpu->counter_base;
}

uint32_t isa_counter(struct dpu *dpu)
{
    return (uint32_t)(value(dpu) >> 4);
}

/* Bit 0: from 0 on; the others: what is counted from now on, 0: as before. */
void isa_configure_counter(struct dpu *dpu, uint32_t how)
{
    dpu->counter_kept = how & 1 ? 0 : value(dpu);
    if ((how >> 1 & 3) != 0)
        dpu->counts = (enum counts)(how >> 1 & 3);
    dpu->counter_base = counted(dpu);
}
