/* From words of IRAM to what execute.h executes, by the table of generated/dpu_isa.h. */
#include "isa.h"

#include "generated/dpu_isa.h"

#include <string.h>

/* Codes of the plain register variant; the others follow it in the order of ALU_VARIANTS. */
static const uint16_t alu[DPU_OPERATIONS] = {
#define ALU(name, class) [DPU_OP_##name] = OP_##name##_r_PLAIN + 1,
    ALU_OPERATIONS(ALU)
#undef ALU
    [DPU_OP_MOVE] = OP_OR_r_PLAIN + 1,
};
enum { JUMP = 1, IF_Z, IF_NZ, ANY, VARIANTS };

/* Those that are executed in one way, whatever their operands. */
static const uint16_t single[DPU_OPERATIONS] = {
#define SINGLE(name) [DPU_OP_##name] = OP_##name
    SINGLE(MOVD), SINGLE(SWAPD), SINGLE(MUL_STEP), SINGLE(DIV_STEP), SINGLE(LDMA), SINGLE(LDMAI),
    SINGLE(SDMA), SINGLE(ACQUIRE), SINGLE(RELEASE), SINGLE(STOP), SINGLE(RESUME), SINGLE(BOOT),
    SINGLE(CLR_RUN), SINGLE(READ_RUN), SINGLE(TELL), SINGLE(FAULT), SINGLE(TIME), SINGLE(TIME_CFG),
};

/* Loads, and stores, with the codes of their variants. */
static const struct {
    uint16_t plain, any, imm, imm_big;
} memory[DPU_OPERATIONS] = {
#define LOAD(name, type) [DPU_OP_##name] = {OP_##name, OP_##name##_ANY, 0, 0},
    LOADS(LOAD)
    [DPU_OP_LD] = {OP_LD, OP_LD_BIG, 0, 0},
#define STORE(name, type) [DPU_OP_##name] = {OP_##name, OP_##name##_BIG, OP_##name##_IMM, OP_##name##_IMM_BIG},
    STORES(STORE)
    [DPU_OP_SD] = {OP_SD, OP_SD_BIG, OP_SD_IMM, OP_SD_IMM_BIG},
};

/* The forms that words with the same four highest bits may have. */
static const struct dpu_form *by_top[16][DPU_FORMS];
static unsigned count_of_top[16];

static void sort_forms(void)
{
    for (unsigned n = 0; n < DPU_FORMS; n++)
        for (unsigned top = 0; top < 16; top++)
            if (((dpu_forms[n].value >> 44 ^ top) & dpu_forms[n].mask >> 44) == 0)
                by_top[top][count_of_top[top]++] = &dpu_forms[n];
}

static const struct dpu_form *form_of(uint64_t word)
{
    unsigned top = word >> 44 & 15;
    if (count_of_top[7] == 0)
        sort_forms();
    if (word >> 48)
        return NULL;
    for (unsigned n = 0; n < count_of_top[top]; n++)
        if (dpu_has_form(by_top[top][n], word))
            return by_top[top][n];
    return NULL;
}

static unsigned operand(unsigned field, uint64_t word, unsigned otherwise)
{
    return field == DPU_FIELD_NONE ? otherwise : (unsigned)dpu_read(field, word);
}

static uint16_t alu_variant(const struct insn *i, const struct dpu_form *form, bool constant)
{
    uint16_t first = (uint16_t)(alu[form->operation] - 1 + (constant ? VARIANTS : 0));
    if (i->sets || i->extension != WORD)
        return first + ANY;
    if (form->operation == DPU_OP_SUB)
        switch (i->condition) {
#define COMPARISON(name) \
    case DPU_IF_##name: return constant ? OP_SUB_i_##name : OP_SUB_r_##name;
            COMPARISONS(COMPARISON)
        default: break;
        }
    switch (i->condition) {
    case DPU_IF_FALSE: return first;
    case DPU_IF_TRUE: return first + JUMP;
    case DPU_IF_Z: return first + IF_Z;
    case DPU_IF_NZ: return first + IF_NZ;
    default: return first + ANY;
    }
}

static uint16_t code_of(struct insn *i, const struct dpu_form *form)
{
    unsigned operation = form->operation;
    bool constant = form->b == DPU_FIELD_NONE, big = form->flags & DPU_FLAG_BIG_ENDIAN;
    if (form->flags & DPU_FLAG_UNKNOWN)
        return OP_UNKNOWN;
    if (alu[operation])
        return alu_variant(i, form, constant);
    if (operation == DPU_OP_CALL)
        return constant ? OP_CALL_i : OP_CALL_r;
    if (operation == DPU_OP_MUL_STEP && i->condition == DPU_IF_Z)
        return OP_MUL_STEP_IF_Z;
    if (!memory[operation].plain)
        return single[operation];
    if (memory[operation].imm && constant)
        return big ? memory[operation].imm_big : memory[operation].imm;
    return big || i->extension != WORD ? memory[operation].any : memory[operation].plain;
}

static struct insn decode(const struct dpu *dpu, uint32_t index, uint64_t word)
{
    struct insn i = {.op = OP_ILLEGAL, .jump = 1};
    const struct dpu_form *form = form_of(word);
    if (form == NULL)
        return i;
    unsigned condition = operand(form->cc, word, 0);
    i.a = (uint8_t)operand(form->a, word, R_ZERO);
    i.b = (uint8_t)operand(form->b, word, R_ZERO);
    i.c = (uint8_t)operand(form->dest, word, R_NONE);
    i.condition = dpu_conditions[form->condition_class][condition];
    i.sets = form->role == DPU_ROLE_SET;
    i.extension = form->destination == DPU_TO_PAIR_S ? SIGNED_PAIR
        : form->destination == DPU_TO_PAIR_U         ? UNSIGNED_PAIR
                                                     : WORD;
    i.reverse = (form->flags & DPU_FLAG_BIG_ENDIAN) != 0;
    i.imm = (int32_t)dpu_read(form->imm, word);
    i.extra = (uint8_t)(i.imm & 31);
    if (form->pc != DPU_FIELD_NONE) {
        uint32_t target = (uint32_t)dpu_read(form->pc, word);
        uint32_t most = dpu->iram_instructions;
        i.jump = (int16_t)((int32_t)(target < most ? target : most) - (int32_t)index);
    }
    if (form->offset == DPU_FIELD_OFFSET12)
        i.jump = (int16_t)dpu_read(form->offset, word);
    else if (form->offset != DPU_FIELD_NONE)
        i.imm = (int32_t)dpu_read(form->offset, word);
    i.op = code_of(&i, form);
    return i;
}

void isa_decode_changed(struct dpu *dpu, uint32_t first, uint32_t count)
{
    for (uint32_t n = first; n < first + count; n++) {
        uint64_t word;
        memcpy(&word, dpu->iram + n * INSTRUCTION_BYTES, sizeof word);
        if (word == dpu->words[n] && dpu->decoded)
            continue;
        dpu->words[n] = word;
        dpu->code[n] = decode(dpu, n, word);
        /* The SDK's library tries again: `resume ra, 0, nz, .` */
        if (dpu->code[n].op == OP_RESUME && dpu->code[n].jump != 0)
            dpu->counts_on_turns = true;
    }
    if (dpu->core->stop)
        isa_break(dpu);
}

/*
 * The DPU stops, whatever it executes next: also out of the loops of execute.c, which look for nobody.
 * Called by a signal handler.
 */
void isa_break(struct dpu *dpu)
{
    for (uint32_t n = 0; n <= IRAM_INSTRUCTIONS; n++)
        dpu->code[n].op = OP_BREAK;
    dpu->decoded = 0;
}

/* Most often it is the program that ran before. */
void isa_decode_iram(struct dpu *dpu)
{
    if (dpu->decoded != dpu->iram_instructions)
        dpu->decoded = 0;
    isa_decode_changed(dpu, 0, IRAM_INSTRUCTIONS);
    dpu->code[dpu->iram_instructions] = (struct insn){.op = OP_OUTSIDE};
    dpu->decoded = dpu->iram_instructions;
    if (dpu->core->stop)
        isa_break(dpu);
}
