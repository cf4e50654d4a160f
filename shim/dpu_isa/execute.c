/* The loops that execute instructions. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-gcse", "no-crossjumping") /* a dispatch for each instruction, none is shared */
#endif
#include "../dpu_run/hardware.h"
#include "isa.h"

#include "alu.h"
#include "conditions.h"

#define SLICE 32u
/* Numbers of atomic bits that a program has loaded as signed bytes: barriers keep theirs in a char. */
#define SIGNED_BYTES 0xffffff80u

/* A result where it belongs; a pair has it in its odd register, and its sign or zero in the even one. */
static inline void put(struct tasklet *t, const struct insn *i, uint32_t value)
{
    if (i->extension == WORD) {
        t->r[i->c] = value;
        return;
    }
    t->r[i->c | 1] = value;
    t->r[i->c] = i->extension == SIGNED_PAIR ? -(value >> 31) : 0;
}

static inline uint32_t reversed(uint32_t value, size_t bytes)
{
    return __builtin_bswap32(value) >> (32 - 8 * bytes);
}

/* Cycles in which a tasklet executes so many instructions of its own share of the pipeline. */
static uint64_t isa_slice_cycles(struct dpu *dpu, uint32_t instructions)
{
    uint32_t running = dpu->running < ISSUE ? dpu->running : ISSUE;
    dpu->part += instructions * (running ? ISSUE * 4096u / running : 4096u);
    uint64_t cycles = dpu->part / 4096;
    dpu->part %= 4096;
    return cycles;
}

static struct tasklet *isa_next_running(struct dpu *dpu, struct tasklet *after)
{
    for (uint32_t n = after->number + 1u; n <= after->number + (uint32_t)MAX_TASKLETS; n++)
        if (dpu->tasklets[n % MAX_TASKLETS].state == RUNS)
            return &dpu->tasklets[n % MAX_TASKLETS];
    return NULL;
}

#include "access.h"

#define EXECUTE isa_execute_timed
#define PIPELINE 1
#define MOST_AHEAD 256u
#define WATCHED 0
#include "execute.h"
#include "execute_end.h"
#define EXECUTE isa_execute_watched
#define PIPELINE 1
#define MOST_AHEAD 1u
#define WATCHED 1
#include "execute.h"
#include "execute_end.h"
#define EXECUTE isa_execute_fast
#define PIPELINE 0
#define WATCHED 0
#include "execute.h"
