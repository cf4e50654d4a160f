/*
 * A DPU that executes the vendor's instructions: what the files of its worker share.
 *
 * Instructions are decoded once (decode.c) and executed by threaded code (execute.h), which is compiled
 * three times: with the pipeline, cycle by cycle; without; and with the pipeline for debuggers.
 */
#ifndef DPU_ISA_ISA_H
#define DPU_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../dpu_run/protocol.h"
#include "operations.h"

/* Registers of a tasklet by the numbers of the encoding, then a place for results nobody wants. */
enum { R_ZERO = 24, R_ONE, R_LNEG, R_MNEG, R_ID, R_ID2, R_ID4, R_ID8, R_NONE, REGISTERS = R_NONE + 2 };

/* What becomes of a result. */
enum extension { WORD, SIGNED_PAIR, UNSIGNED_PAIR };

struct insn {
    uint16_t op;  /* which code executes it, see operations.h */
    uint8_t a, b; /* first and second source, of a pair the even register */
    uint8_t c;    /* destination, of a pair the even register; R_NONE: none */
    uint8_t condition; /* enum dpu_condition */
    uint8_t extension;
    uint8_t sets;    /* the condition is the result, and no branch */
    uint8_t reverse; /* a load of which the first byte is the highest */
    uint8_t extra;   /* the amount of shift-and-add, mul_step and div_step */
    int16_t jump;    /* from here to the target; the offset of a store of a constant */
    int32_t imm;
};

/* Loads do not look at the two highest bits of an address: UPMEM's own usecase_upvc keeps a shift there. */
#define LOADED_BITS 0x3fffffffu

enum tasklet_state { STOPPED, RUNS, SLEEPS };

struct tasklet {
    const struct insn *pc;
    struct tasklet *next, *previous; /* in the pipeline */
    uint64_t instructions, retries;
    uint32_t pending; /* instructions that are executed, but not issued yet */
    uint32_t step; /* cycles from its issue to that of the next tasklet in the pipeline */
    uint32_t z;    /* 0: the zero flag is set */
    uint32_t carry;
    uint32_t r[REGISTERS];
    uint8_t number, state;
    bool started; /* in this launch */
    uint64_t until, since; /* cycles: when a sleeper goes on, and when it stopped */
    struct tasklet_times *times;
};

enum counts { COUNT_CYCLES = 1, COUNT_INSTRUCTIONS, COUNT_NOTHING };

/* What a debugger wants to see: the launch stops after so many instructions or records. */
struct watch {
    struct dpu_trace *records;
    uint32_t limit, first, end, tasklets; /* of records, see struct frame */
    uint32_t count;                       /* of records */
    uint64_t left;                        /* instructions to execute */
    const struct insn *insn;              /* that executes now */
    bool memory; /* some is watched */
    bool accesses; /* not for changes alone */
    uint32_t accessed; /* by the instruction that executes now: one more than the number of what is watched */
    uint8_t before[WATCHES][WATCH_BYTES]; /* what is watched, as it was */
};

struct dpu {
    uint8_t *mram, *wram, *iram, *written;
    struct dpu_side *side;
    struct dpu_core *core;
    uint32_t wram_bytes, iram_instructions;
    bool timed;
    uint32_t deadlock; /* what becomes of one */

    struct tasklet tasklets[MAX_TASKLETS];
    struct tasklet *sleepers[MAX_TASKLETS]; /* the first to go on comes first */
    uint32_t nr_sleepers;
    uint32_t running; /* tasklets in the pipeline */
    struct tasklet *head; /* of them, the next one */
    uint64_t now, alarm;  /* cycles; alarm: when a sleeper goes on */
    uint32_t part;        /* of a cycle, where launches are not timed */
    uint64_t engine_free;
    uint32_t last_row;
    uint32_t bad_address, bad_size; /* of a DMA that failed */

    enum counts counts;
    uint64_t counter_base, counter_kept; /* of the time counter */

    struct watch watch; /* of isa_execute_watched */

    struct insn code[IRAM_INSTRUCTIONS + 1]; /* the last one stands for what is outside */
    uint64_t words[IRAM_INSTRUCTIONS];       /* that they were decoded from */
    uint32_t decoded; /* 0: nothing yet; else for an IRAM of that size */
    bool counts_on_turns; /* a tasklet resumes another one without asking whether it has stopped */
};

/* decode.c */
void isa_decode_iram(struct dpu *dpu);
void isa_decode_changed(struct dpu *dpu, uint32_t first, uint32_t count);
void isa_break(struct dpu *dpu);

/* execute.c: until nothing runs, or a fault, which is in the side page then. */
void isa_execute_timed(struct dpu *dpu);
void isa_execute_fast(struct dpu *dpu);
void isa_execute_watched(struct dpu *dpu);

/* watch.c */
bool isa_watched(struct dpu *dpu, const struct tasklet *t, uint64_t now);
void isa_watch_access(struct dpu *dpu, const struct tasklet *t);
void isa_watch(struct dpu *dpu, const struct frame *frame, uint8_t *slot);

/* pipeline.c */
void pipeline_sleep(struct dpu *dpu, struct tasklet *t, uint64_t until);
void pipeline_leave(struct dpu *dpu, struct tasklet *t);
void pipeline_wake(struct dpu *dpu);

/* control.c */
uint32_t isa_start(struct dpu *dpu, uint32_t number, bool at_zero);
bool isa_may_clear_run(struct dpu *dpu, uint32_t number);
uint32_t isa_clear_run(struct dpu *dpu, uint32_t number);
uint32_t isa_read_run(struct dpu *dpu, uint32_t number);
void isa_stop(struct dpu *dpu, struct tasklet *t);
uint32_t isa_counter(struct dpu *dpu);
void isa_configure_counter(struct dpu *dpu, uint32_t value);

/* dma.c: FAULT_NONE, or why not. */
enum dma { DMA_READ, DMA_CODE, DMA_WRITE };
struct transfer {
    uint32_t near, far, bytes; /* in WRAM or IRAM; in MRAM */
};
static inline struct transfer isa_transfer(const struct tasklet *t, const struct insn *i)
{
    uint32_t bytes = 8 * (1 + (((uint32_t)i->imm + (t->r[i->a] >> 24)) & 0xff));
    return (struct transfer){t->r[i->a] & 0x00fffff8, t->r[i->b] & 0x03fffff8, bytes};
}
uint32_t isa_dma(struct dpu *dpu, struct tasklet *t, const struct insn *i, enum dma kind);

/* fault.c */
void isa_fault(struct dpu *dpu, struct tasklet *t, const struct insn *i, uint32_t kind, uint32_t code,
    uint64_t address, uint32_t size);
void isa_stopped(struct dpu *dpu, const struct tasklet *t);
void isa_end(struct dpu *dpu);

/* state.c */
void isa_begin(struct dpu *dpu, uint8_t *slot, bool timed);
void isa_resume(struct dpu *dpu, uint8_t *slot, bool timed, uint32_t only);
void isa_finish(struct dpu *dpu);

static inline uint32_t isa_index(const struct dpu *dpu, const struct insn *i)
{
    return (uint32_t)(i - dpu->code);
}

#endif
