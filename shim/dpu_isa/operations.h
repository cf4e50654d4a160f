/*
 * The operations of a DPU by name, and the codes of the variants in which each one is executed.
 *
 * Operations with two sources and a result exist with a register (r) or a constant (i) as the second
 * one, and with the conditions that compilers use most; ANY stands for all conditions and results.
 */
#ifndef DPU_ISA_OPERATIONS_H
#define DPU_ISA_OPERATIONS_H

/* X(name, class) */
#define ALU_OPERATIONS(X) \
    X(ADD, SUM) X(ADDC, SUM) X(SUB, DIFFERENCE) X(SUBC, DIFFERENCE) X(RSUB, DIFFERENCE) X(RSUBC, DIFFERENCE) \
    X(AND, OTHER) X(OR, OTHER) X(XOR, OTHER) X(NAND, OTHER) X(NOR, OTHER) X(NXOR, OTHER) \
    X(ANDN, OTHER) X(ORN, OTHER) \
    X(LSL, OTHER) X(LSLX, OTHER) X(LSL1, OTHER) X(LSR, OTHER) X(LSRX, OTHER) X(LSR1, OTHER) \
    X(ASR, OTHER) X(ROL, OTHER) X(ROR, OTHER) \
    X(MUL_UL_UL, OTHER) X(MUL_UL_UH, OTHER) X(MUL_UH_UL, OTHER) X(MUL_UH_UH, OTHER) \
    X(MUL_SL_SL, OTHER) X(MUL_SL_SH, OTHER) X(MUL_SH_SL, OTHER) X(MUL_SH_SH, OTHER) \
    X(MUL_SL_UL, OTHER) X(MUL_SL_UH, OTHER) X(MUL_SH_UL, OTHER) X(MUL_SH_UH, OTHER) \
    X(LSL_ADD, OTHER) X(LSR_ADD, OTHER) X(LSL_SUB, OTHER) \
    X(CMPB4, OTHER) \
    X(CAO, OTHER) X(CLO, OTHER) X(CLS, OTHER) X(CLZ, OTHER) \
    X(EXTUB, OTHER) X(EXTSB, OTHER) X(EXTUH, OTHER) X(EXTSH, OTHER)

/* What conditions about carry and overflow mean. */
enum operand_class { SUM, DIFFERENCE, OTHER };

/* Variants of each of them. */
#define ALU_VARIANTS(X, name, class) \
    X(name, class, r, PLAIN) X(name, class, r, JUMP) X(name, class, r, IF_Z) \
    X(name, class, r, IF_NZ) X(name, class, r, ANY) \
    X(name, class, i, PLAIN) X(name, class, i, JUMP) X(name, class, i, IF_Z) \
    X(name, class, i, IF_NZ) X(name, class, i, ANY)

/* Branches of sub that compare: X(name of the condition) */
#define COMPARISONS(X) X(LTU) X(GEU) X(LTS) X(GES) X(LES) X(GTS) X(LEU) X(GTU)

/* Loads and stores: X(name, type in memory) */
#define LOADS(X) X(LBU, uint8_t) X(LBS, int8_t) X(LHU, uint16_t) X(LHS, int16_t) X(LW, uint32_t)
#define STORES(X) X(SB, uint8_t) X(SH, uint16_t) X(SW, uint32_t)

/* What has one variant, and touches registers only; and what others can see: X(name) */
#define REGISTER_OPERATIONS(X) \
    X(MOVD) X(SWAPD) X(MUL_STEP) X(MUL_STEP_IF_Z) X(DIV_STEP) X(CALL_r) X(CALL_i) X(TELL)
#define SHARED_OPERATIONS(X) \
    X(LBU_ANY) X(LBS_ANY) X(LHU_ANY) X(LHS_ANY) X(LW_ANY) \
    X(LD) X(LD_BIG) X(SD) X(SD_BIG) X(SD_IMM) X(SD_IMM_BIG) \
    X(LDMA) X(LDMAI) X(SDMA) \
    X(ACQUIRE) X(RELEASE) X(STOP) X(RESUME) X(BOOT) X(CLR_RUN) X(READ_RUN) X(FAULT) \
    X(TIME) X(TIME_CFG) \
    X(UNKNOWN) X(ILLEGAL) X(OUTSIDE) X(BREAK)
#define OTHER_OPERATIONS(X) REGISTER_OPERATIONS(X) SHARED_OPERATIONS(X)

enum operation {
#define VARIANT(name, class, form, variant) OP_##name##_##form##_##variant,
#define OPERATION(name, class) ALU_VARIANTS(VARIANT, name, class)
    ALU_OPERATIONS(OPERATION)
#undef OPERATION
#undef VARIANT
#define COMPARISON(name) OP_SUB_r_##name, OP_SUB_i_##name,
    COMPARISONS(COMPARISON)
#undef COMPARISON
#define LOAD(name, type) OP_##name,
    LOADS(LOAD)
#undef LOAD
#define STORE(name, type) OP_##name, OP_##name##_BIG, OP_##name##_IMM, OP_##name##_IMM_BIG,
    STORES(STORE)
#undef STORE
#define OTHER(name) OP_##name,
    OTHER_OPERATIONS(OTHER)
#undef OTHER
    OPERATIONS
};

#endif
