/* What a debugger sees of a DPU that executes instruction after instruction. */
#include "isa.h"

#include <string.h>

/* Registers that an instruction writes: 0, 1, or 2 for a pair. */
static uint8_t registers_of(const struct insn *i)
{
    if (i->c >= NR_REGISTERS)
        return 0;
    if (i->extension != WORD)
        return 2;
    switch (i->op) {
    case OP_LD:
    case OP_LD_BIG:
    case OP_MOVD:
    case OP_SWAPD:
    case OP_MUL_STEP:
    case OP_MUL_STEP_IF_Z:
    case OP_DIV_STEP: return 2;
    default: return 1;
    }
}

static void record(struct watch *watch, const struct tasklet *t, uint32_t index, uint64_t now)
{
    const struct insn *i = watch->insn;
    uint8_t count = registers_of(i);
    uint8_t first = count ? (uint8_t)(count == 2 ? i->c & ~1 : i->c) : 255;
    struct dpu_trace *at = &watch->records[watch->count++];
    *at = (struct dpu_trace){.cycle = now, .index = (uint16_t)index, .tasklet = t->number};
    at->first = first;
    at->count = count;
    at->zero = t->z == 0;
    at->carry = t->carry != 0;
    at->value = count ? t->r[first] : 0;
    at->second = count == 2 ? t->r[first + 1] : 0;
}

/* Watched memory; `size` is 0 where there is none. */
static const uint8_t *watched(const struct dpu *dpu, uint32_t n, uint32_t *size)
{
    uint32_t at = dpu->core->watched_at[n] & ~WATCH_MRAM, bytes = dpu->core->watched_bytes[n];
    bool mram = dpu->core->watched_at[n] & WATCH_MRAM;
    uint32_t room = mram ? MRAM_SIZE : WRAM_SIZE;
    *size = bytes <= WATCH_BYTES && at <= room - WATCH_BYTES ? bytes : 0;
    return (mram ? dpu->mram : dpu->wram) + at;
}

/* Bytes of one memory that an instruction reads or writes; none where `bytes` is 0. */
struct access {
    uint32_t at, bytes;
    bool mram, write;
};

static struct access in_wram(uint32_t at, uint32_t bytes, bool write)
{
    return (struct access){.at = write ? at : at & LOADED_BITS, .bytes = bytes, .write = write};
}

/* What it is about to do, by its registers: afterwards a load may have replaced the one with the address. */
static void accesses_of(const struct tasklet *t, const struct insn *i, struct access found[2])
{
    const uint32_t at = t->r[i->a] + (uint32_t)i->imm, at_of_constant = t->r[i->a] + (uint32_t)(int32_t)i->jump;
    const struct transfer moved = isa_transfer(t, i);
    found[0] = found[1] = (struct access){0};
    switch (i->op) {
#define LOAD_OF(name, type) \
    case OP_##name: \
    case OP_##name##_ANY: found[0] = in_wram(at, sizeof(type), false); break;
        LOADS(LOAD_OF)
    case OP_LD:
    case OP_LD_BIG: found[0] = in_wram(at, 8, false); break;
#define STORE_TO(name, type) \
    case OP_##name: \
    case OP_##name##_BIG: found[0] = in_wram(at, sizeof(type), true); break; \
    case OP_##name##_IMM: \
    case OP_##name##_IMM_BIG: found[0] = in_wram(at_of_constant, sizeof(type), true); break;
        STORES(STORE_TO)
        STORE_TO(SD, uint64_t)
    case OP_LDMA:
        found[1] = in_wram(moved.near, moved.bytes, true); /* fallthrough */
    case OP_LDMAI: found[0] = (struct access){moved.far, moved.bytes, true, false}; break;
    case OP_SDMA:
        found[0] = in_wram(moved.near, moved.bytes, false);
        found[1] = (struct access){moved.far, moved.bytes, true, true};
    }
}

/* Before an instruction. */
void isa_watch_access(struct dpu *dpu, const struct tasklet *t)
{
    struct access found[2];
    accesses_of(t, dpu->watch.insn, found);
    dpu->watch.accessed = 0;
    for (uint32_t n = 0; n < WATCHES; n++) {
        uint32_t size, wanted = dpu->core->watched_for[n];
        watched(dpu, n, &size);
        if (size == 0 || wanted == WATCH_CHANGES)
            continue;
        uint32_t at = dpu->core->watched_at[n] & ~WATCH_MRAM;
        bool mram = dpu->core->watched_at[n] & WATCH_MRAM;
        for (uint32_t a = 0; a < 2; a++)
            if (found[a].mram == mram && (!found[a].write || wanted == WATCH_BOTH)
                && found[a].at < at + size && at < found[a].at + found[a].bytes)
                dpu->watch.accessed = n + 1;
    }
}

static bool accessed(struct dpu *dpu, const struct tasklet *t)
{
    if (dpu->watch.accessed == 0)
        return false;
    dpu->core->watch_hit = dpu->watch.accessed;
    dpu->core->watch_tasklet = t->number;
    return true;
}

static bool changed(struct dpu *dpu, const struct tasklet *t)
{
    bool found = false;
    for (uint32_t n = 0; n < WATCHES; n++) {
        uint32_t size;
        const uint8_t *now = watched(dpu, n, &size);
        if (size == 0 || dpu->core->watched_for[n] != WATCH_CHANGES || memcmp(now, dpu->watch.before[n], size) == 0)
            continue;
        memcpy(dpu->watch.before[n], now, size);
        dpu->core->watch_hit = n + 1;
        dpu->core->watch_tasklet = t->number;
        found = true;
    }
    return found;
}

/* After each instruction: whether it was the last one that the debugger waits for. */
bool isa_watched(struct dpu *dpu, const struct tasklet *t, uint64_t now)
{
    struct watch *watch = &dpu->watch;
    uint32_t index = isa_index(dpu, watch->insn);
    if (watch->limit && index >= watch->first && index < watch->end && watch->tasklets >> t->number & 1)
        record(watch, t, index, now);
    bool hit = watch->accesses && accessed(dpu, t);
    hit |= watch->memory && changed(dpu, t);
    return --watch->left == 0 || hit || (watch->limit && watch->count == watch->limit);
}

void isa_watch(struct dpu *dpu, const struct frame *frame, uint8_t *slot)
{
    uint32_t limit = frame->trace_limit < TRACE_RECORDS ? frame->trace_limit : TRACE_RECORDS;
    dpu->watch = (struct watch){
        .records = (struct dpu_trace *)(void *)(slot + SLOT_PROFILE),
        .limit = limit,
        .first = frame->trace_first,
        .end = frame->trace_end,
        .tasklets = frame->trace_tasklets,
        .left = frame->start == START_STEP ? 1 : ~0ull,
    };
    dpu->core->watch_hit = 0;
    for (uint32_t n = 0; n < WATCHES; n++) {
        uint32_t size;
        const uint8_t *now = watched(dpu, n, &size);
        memcpy(dpu->watch.before[n], now, size);
        dpu->watch.memory |= size != 0;
        dpu->watch.accesses |= size != 0 && dpu->core->watched_for[n] != WATCH_CHANGES;
    }
}
