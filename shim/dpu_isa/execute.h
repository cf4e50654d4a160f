/*
 * The code that executes instructions, compiled once for each way to go on from one to the next.
 * EXECUTE names the function. PIPELINE is 1 where every cycle counts; without it a tasklet goes on for
 * SLICE instructions, or until it has to wait. WATCHED is 1 where a debugger looks at each instruction.
 *
 * In the pipeline tasklets take turns after each instruction. But what only reads and writes registers
 * nobody else can see: it is executed ahead, together with the instruction before it, and the tasklet
 * owes a turn for each (`pending`). What others can see happens in its own turn.
 */
#define REG(n) t->r[n]
#define SECOND_r REG(i->b)
#define SECOND_i ((uint32_t)i->imm)

#if PIPELINE
#define NEXT(to) \
    do { \
        i = (to); \
        if (__builtin_expect(++ahead == MOST_AHEAD, 0)) \
            goto pause; \
        goto *after[i->op]; \
    } while (0)
#define WAITS(to) NEXT(to)
#define SYNC dpu->now = now
#else
#define NEXT(to) \
    do { \
        i = (to); \
        if (__builtin_expect(--left == 0, 0)) \
            goto slice_ended; \
        goto *labels[i->op]; \
    } while (0)
#define WAITS(to) \
    do { \
        i = (to); \
        left--; \
        goto slice_ended; \
    } while (0)
#define SYNC \
    do { \
        dpu->now += isa_slice_cycles(dpu, slice - left); \
        t->instructions += slice - left; \
        slice = left; \
    } while (0)
#endif

#define GO_ON NEXT(i + 1)
#define BRANCH_IF(holds) NEXT(i + ((holds) ? i->jump : 1))
#define FAULT(kind, code, address, size) \
    do { \
        SYNC; \
        isa_fault(dpu, t, i, kind, code, address, size); \
        return; \
    } while (0)

#define FINISH_PLAIN(class) REG(i->c) = r; GO_ON;
#define FINISH_JUMP(class) REG(i->c) = r; NEXT(i + i->jump);
#define FINISH_IF_Z(class) REG(i->c) = r; BRANCH_IF(r == 0);
#define FINISH_IF_NZ(class) REG(i->c) = r; BRANCH_IF(r != 0);
#define FINISH_ANY(class) \
    const bool yes = holds(class, i->condition, a, x, y, in, r, z); \
    put(t, i, i->sets ? yes : r); \
    BRANCH_IF(yes && !i->sets);

#define ALU(name, class, form, variant) \
    name##_##form##_##variant : { \
        const uint32_t a = REG(i->a), b = SECOND_##form, z = t->z; \
        uint32_t x = a, y = b, in = 0, r; \
        (void)x, (void)y, (void)z, (void)in; \
        DO_##name \
        FINISH_##variant(class) \
    }
#define ALU_OF(name, class) ALU_VARIANTS(ALU, name, class)

#define COMPARE(name, form) \
    SUB_##form##_##name : { \
        const uint32_t a = REG(i->a), x = a, y = SECOND_##form, z = t->z; \
        uint32_t r; \
        DO_SUB \
        REG(i->c) = r; \
        BRANCH_IF(holds(DIFFERENCE, DPU_IF_##name, a, x, y, 0, r, z)); \
    }
#define COMPARE_BOTH(name) COMPARE(name, r) COMPARE(name, i)

/* What has a result and nothing else that conditions look at but the first source. */
#define RESULT(value) \
    do { \
        const uint32_t a = REG(i->a), z = t->z, r = (value); \
        t->z = r; \
        const bool yes = holds(OTHER, i->condition, a, 0, 0, 0, r, z); \
        put(t, i, i->sets ? yes : r); \
        BRANCH_IF(yes && !i->sets); \
    } while (0)
/* The same of a pair, whose conditions look at the first source. */
#define PAIR_RESULT(high, low, z_result) \
    do { \
        const uint32_t a = REG(i->a), z = t->z, h = (high), l = (low), r = (z_result); \
        REG(i->c) = h; \
        REG(i->c | 1) = l; \
        BRANCH_IF(holds(OTHER, i->condition, a, 0, 0, 0, r, z)); \
    } while (0)

#define TRANSFER(name, kind) \
    name : { \
        SYNC; \
        const uint32_t why = isa_dma(dpu, t, i, kind); \
        if (why != FAULT_NONE) \
            FAULT(why, 0, dpu->bad_address, dpu->bad_size); \
        t->pc = i + 1; \
        GO_TO_SLEEP; \
    }

#if PIPELINE
#define GO_TO_SLEEP goto leave
#else
#define GO_TO_SLEEP WAITS(i + 1)
#endif

void EXECUTE(struct dpu *dpu)
{
    static const void *const labels[OPERATIONS] = {
#define LABEL(name, class, form, variant) \
    [OP_##name##_##form##_##variant] = &&name##_##form##_##variant,
#define LABELS(name, class) ALU_VARIANTS(LABEL, name, class)
        ALU_OPERATIONS(LABELS)
#define LABEL_COMPARISON(name) [OP_SUB_r_##name] = &&SUB_r_##name, [OP_SUB_i_##name] = &&SUB_i_##name,
        COMPARISONS(LABEL_COMPARISON)
#define LABEL_1(name) [OP_##name] = &&name,
#define LABEL_LOAD(name, type) LABEL_1(name)
        LOADS(LABEL_LOAD)
#define LABEL_STORE(name, type) \
    LABEL_1(name) LABEL_1(name##_BIG) LABEL_1(name##_IMM) LABEL_1(name##_IMM_BIG)
        STORES(LABEL_STORE)
        OTHER_OPERATIONS(LABEL_1)
    };
#if PIPELINE
    static const void *const after[OPERATIONS] = {
        ALU_OPERATIONS(LABELS)
        COMPARISONS(LABEL_COMPARISON)
        REGISTER_OPERATIONS(LABEL_1)
#define LABEL_PAUSE(name) [OP_##name] = &&pause,
#define PAUSE_LOAD(name, type) LABEL_PAUSE(name)
        LOADS(PAUSE_LOAD)
#define PAUSE_STORE(name, type) \
    LABEL_PAUSE(name) LABEL_PAUSE(name##_BIG) LABEL_PAUSE(name##_IMM) LABEL_PAUSE(name##_IMM_BIG)
        STORES(PAUSE_STORE)
        SHARED_OPERATIONS(LABEL_PAUSE)
    };
#endif
    uint8_t *const wram = dpu->wram;
    const uint32_t wram_bytes = dpu->wram_bytes;
    struct tasklet *t = NULL;
    const struct insn *i;
    uint32_t wrong_at, wrong_size;
#if PIPELINE
    uint64_t now = dpu->now;
    uint32_t ahead = 0; /* instructions executed in this turn */
    goto wake;
pause:
    t->pc = i;
    t->instructions += ahead;
    t->pending = ahead - 1;
    ahead = 0;
#if WATCHED
    const bool stop = isa_watched(dpu, t, now);
    now += t->step;
    t = t->next;
    if (stop) {
        SYNC;
        isa_stopped(dpu, t);
        return;
    }
    goto turn;
#endif
next_turn:
    now += t->step;
    t = t->next;
turn:
    if (__builtin_expect(now >= dpu->alarm, 0))
        goto wake;
    if (t->pending) {
        t->pending--;
        goto next_turn;
    }
    i = t->pc;
#if WATCHED
    dpu->watch.insn = i;
    if (dpu->watch.accesses)
        isa_watch_access(dpu, t);
#endif
    goto *labels[i->op];
leave:
    t->instructions++;
#if WATCHED
    const bool last = isa_watched(dpu, t, now);
    pipeline_leave(dpu, t);
    if (last && (dpu->running || dpu->nr_sleepers)) {
        isa_stopped(dpu, dpu->head ? dpu->head : dpu->sleepers[0]);
        return;
    }
#else
    pipeline_leave(dpu, t);
#endif
    now = dpu->now;
    t = dpu->head;
    if (dpu->running)
        goto turn;
wake:
    dpu->now = now;
    if (dpu->running == 0 && dpu->nr_sleepers == 0)
        return;
    dpu->head = t;
    pipeline_wake(dpu);
    now = dpu->now;
    t = dpu->head;
    goto turn;
#else
    uint32_t left = 0, slice = 0;
    t = &dpu->tasklets[MAX_TASKLETS - 1];
    goto next_slice;
leave:
    left--;
    i = t->pc;
slice_ended:
    t->pc = i;
    SYNC;
next_slice:
    t = isa_next_running(dpu, t);
    if (t == NULL)
        return;
    slice = left = SLICE;
    i = t->pc;
    goto *labels[i->op];
#endif

    ALU_OPERATIONS(ALU_OF)
    COMPARISONS(COMPARE_BOTH)
    ALL_ACCESSES

wrong_address:
    FAULT(FAULT_MEMORY, 0, wrong_at, wrong_size);

MOVD:
    PAIR_RESULT(REG(i->b), REG(i->b | 1), t->z);
SWAPD:
    PAIR_RESULT(REG(i->b | 1), REG(i->b), t->z);
MUL_STEP: {
    const uint32_t even = REG(i->b), odd = REG(i->b | 1);
    t->z = even >> 1;
    PAIR_RESULT(even >> 1, even & 1 ? odd + (a << i->extra) : odd, even >> 1);
}
MUL_STEP_IF_Z: {
    const uint32_t even = REG(i->b), odd = REG(i->b | 1), a = REG(i->a), r = even >> 1;
    REG(i->c) = t->z = r;
    REG(i->c | 1) = odd + (-(even & 1) & (a << i->extra));
    BRANCH_IF(r == 0);
}
DIV_STEP: {
    const uint32_t even = REG(i->b), odd = REG(i->b | 1);
    const uint64_t divisor = (uint64_t)REG(i->a) << i->extra;
    const bool fits = odd >= divisor;
    PAIR_RESULT(even << 1 | fits, fits ? odd - (uint32_t)divisor : odd, t->z);
}

CALL_r: {
    const uint32_t target = REG(i->a) + REG(i->b);
    wrong_at = target;
    goto call;
}
CALL_i:
    wrong_at = REG(i->a) + (uint32_t)i->imm;
call:
    if (__builtin_expect(wrong_at >= dpu->iram_instructions, 0)) {
#if PIPELINE
        if (ahead)
            goto pause; /* faults in its own turn */
#endif
        FAULT(FAULT_JUMP, 0, wrong_at, 0);
    }
    REG(i->c) = isa_index(dpu, i) + 1;
    NEXT(dpu->code + wrong_at);

    TRANSFER(LDMA, DMA_READ)
    TRANSFER(LDMAI, DMA_CODE)
    TRANSFER(SDMA, DMA_WRITE)

ACQUIRE: {
    const uint32_t sum = REG(i->a) + (uint32_t)i->imm, bit = sum % ATOMIC_BITS;
    if (sum >= ATOMIC_BITS && sum < SIGNED_BYTES)
        FAULT(FAULT_BIT, 0, sum, 0);
    const uint32_t z = t->z, old = dpu->core->atomic[bit];
    dpu->core->atomic[bit] = 1;
    t->z = old;
    const bool yes = holds(OTHER, i->condition, REG(i->a), 0, 0, 0, old, z);
    if (old == 0)
        BRANCH_IF(yes);
    t->retries += yes && i->jump <= 0;
    WAITS(i + (yes ? i->jump : 1));
}
RELEASE: {
    const uint32_t sum = REG(i->a) + (uint32_t)i->imm, bit = sum % ATOMIC_BITS;
    if (sum == ATOMIC_BITS)
        GO_ON; /* start code releases one too many, of bits that are all free */
    if (sum >= ATOMIC_BITS && sum < SIGNED_BYTES)
        FAULT(FAULT_BIT, 0, sum, 0);
    const uint32_t old = dpu->core->atomic[bit];
    dpu->core->atomic[bit] = 0;
    BRANCH_IF(old);
}

STOP: {
    const uint32_t a = REG(i->a);
    t->pc = i + (holds(OTHER, i->condition, a, 0, 0, 0, a, t->z) ? i->jump : 1);
    SYNC;
    isa_stop(dpu, t);
    goto leave;
}
RESUME:
    SYNC;
    RESULT(isa_start(dpu, a + (uint32_t)i->imm, false));
BOOT:
    SYNC;
    RESULT(isa_start(dpu, a + (uint32_t)i->imm, true));
CLR_RUN:
    if (!isa_may_clear_run(dpu, REG(i->a) + (uint32_t)i->imm))
        FAULT(FAULT_UNKNOWN, 0, 0, 0);
    SYNC;
    RESULT(isa_clear_run(dpu, a + (uint32_t)i->imm));
READ_RUN:
    RESULT(isa_read_run(dpu, a + (uint32_t)i->imm));
TIME:
    SYNC;
    RESULT(isa_counter(dpu));
TIME_CFG: {
    SYNC;
    const uint32_t before = isa_counter(dpu);
    isa_configure_counter(dpu, REG(i->b));
    RESULT(before);
}
TELL:
    GO_ON;

FAULT:
    FAULT(FAULT_PROGRAM, (uint32_t)i->imm & 0xff, 0, 0);
UNKNOWN:
    FAULT(FAULT_UNKNOWN, 0, 0, 0);
ILLEGAL:
    FAULT(FAULT_INSTRUCTION, 0, 0, 0);
OUTSIDE:
    FAULT(FAULT_JUMP, 0, dpu->iram_instructions, 0);
BREAK:
    FAULT(FAULT_STOPPED, 0, 0, 0);
}
