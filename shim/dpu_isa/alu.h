/*
 * What each operation computes: `r` from `a` and `b` (and `s`, the constant of some), with the flags.
 * `x`, `y` and `in` are for the conditions, see conditions.h.
 */
#ifndef DPU_ISA_ALU_H
#define DPU_ISA_ALU_H

#define DO_ADD r = x + y; t->carry = r < x; t->z = r;
#define DO_ADDC \
    in = t->carry; uint64_t sum = (uint64_t)x + y + in; r = (uint32_t)sum; \
    t->carry = (uint32_t)(sum >> 32); t->z = r | z;
#define DO_SUB r = x - y; t->carry = x < y; t->z = r;
#define DO_SUBC \
    in = t->carry; r = x - y - in; t->carry = (uint64_t)x < (uint64_t)y + in; t->z = r | z;
#define DO_RSUB x = b; y = a; DO_SUB
#define DO_RSUBC x = b; y = a; DO_SUBC

#define PLAIN_RESULT(value) r = (value); t->z = r;
#define DO_AND PLAIN_RESULT(a & b)
#define DO_OR PLAIN_RESULT(a | b)
#define DO_XOR PLAIN_RESULT(a ^ b)
#define DO_NAND PLAIN_RESULT(~(a & b))
#define DO_NOR PLAIN_RESULT(~(a | b))
#define DO_NXOR PLAIN_RESULT(~(a ^ b))
#define DO_ANDN PLAIN_RESULT(~a & b)
#define DO_ORN PLAIN_RESULT(~a | b)

#define AMOUNT (b & 31)
#define DO_LSL PLAIN_RESULT(a << AMOUNT)
#define DO_LSLX PLAIN_RESULT(AMOUNT ? a >> (32 - AMOUNT) : 0)
#define DO_LSL1 PLAIN_RESULT(a << AMOUNT | ((1u << AMOUNT) - 1))
#define DO_LSR PLAIN_RESULT(a >> AMOUNT)
#define DO_LSRX PLAIN_RESULT(AMOUNT ? a << (32 - AMOUNT) : 0)
#define DO_LSR1 PLAIN_RESULT(a >> AMOUNT | ~(0xffffffffu >> AMOUNT))
#define DO_ASR PLAIN_RESULT((uint32_t)((int32_t)a >> AMOUNT))
#define DO_ROL PLAIN_RESULT(a << AMOUNT | a >> (-b & 31))
#define DO_ROR PLAIN_RESULT(a >> AMOUNT | a << (-b & 31))

#define BYTE(type, value, shift) ((int32_t)(type)((value) >> (shift)))
#define PRODUCT(ta, sa, tb, sb) PLAIN_RESULT((uint32_t)(BYTE(ta, a, sa) * BYTE(tb, b, sb)))
#define DO_MUL_UL_UL PRODUCT(uint8_t, 0, uint8_t, 0)
#define DO_MUL_UL_UH PRODUCT(uint8_t, 0, uint8_t, 8)
#define DO_MUL_UH_UL PRODUCT(uint8_t, 8, uint8_t, 0)
#define DO_MUL_UH_UH PRODUCT(uint8_t, 8, uint8_t, 8)
#define DO_MUL_SL_SL PRODUCT(int8_t, 0, int8_t, 0)
#define DO_MUL_SL_SH PRODUCT(int8_t, 0, int8_t, 8)
#define DO_MUL_SH_SL PRODUCT(int8_t, 8, int8_t, 0)
#define DO_MUL_SH_SH PRODUCT(int8_t, 8, int8_t, 8)
#define DO_MUL_SL_UL PRODUCT(int8_t, 0, uint8_t, 0)
#define DO_MUL_SL_UH PRODUCT(int8_t, 0, uint8_t, 8)
#define DO_MUL_SH_UL PRODUCT(int8_t, 8, uint8_t, 0)
#define DO_MUL_SH_UH PRODUCT(int8_t, 8, uint8_t, 8)

#define DO_LSL_ADD PLAIN_RESULT(b + (a << i->extra))
#define DO_LSR_ADD PLAIN_RESULT(b + (a >> i->extra))
#define DO_LSL_SUB PLAIN_RESULT(b - (a << i->extra))

#define SAME_BYTE(shift) ((uint32_t)((((a ^ b) >> (shift)) & 0xff) == 0) << (shift))
#define DO_CMPB4 PLAIN_RESULT(SAME_BYTE(0) | SAME_BYTE(8) | SAME_BYTE(16) | SAME_BYTE(24))

#define LEADING_ZEROS(value) ((value) ? (uint32_t)__builtin_clz(value) : 32u)
#define DO_CAO PLAIN_RESULT((uint32_t)__builtin_popcount(a))
#define DO_CLO PLAIN_RESULT(LEADING_ZEROS(~a))
#define DO_CLS PLAIN_RESULT(LEADING_ZEROS((int32_t)a < 0 ? ~a : a))
#define DO_CLZ PLAIN_RESULT(LEADING_ZEROS(a))
#define DO_EXTUB PLAIN_RESULT((uint8_t)a)
#define DO_EXTSB PLAIN_RESULT((uint32_t)(int8_t)a)
#define DO_EXTUH PLAIN_RESULT((uint16_t)a)
#define DO_EXTSH PLAIN_RESULT((uint32_t)(int16_t)a)

#endif
