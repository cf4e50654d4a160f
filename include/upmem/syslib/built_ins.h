/*
 * DPU instructions as macros __builtin_<instruction>_<operands>(destination, a, b). The instruction
 * set is that of the UPMEM ISA documentation; here each is the C expression that computes the same.
 */
#ifndef UPMEM_SYSLIB_BUILT_INS_H
#define UPMEM_SYSLIB_BUILT_INS_H

#include <stdint.h>

/* Operand parts of the 8-bit multiplications: signed or unsigned, low or high byte. */
#define __RT_SL(x) ((int32_t)(int8_t)(x))
#define __RT_SH(x) ((int32_t)(int8_t)((uint32_t)(x) >> 8))
#define __RT_UL(x) ((int32_t)(uint8_t)(x))
#define __RT_UH(x) ((int32_t)(uint8_t)((uint32_t)(x) >> 8))

#define __builtin_mul_sh_sh_rrr(d, a, b) ((d) = __RT_SH(a) * __RT_SH(b))
#define __builtin_mul_sh_sl_rrr(d, a, b) ((d) = __RT_SH(a) * __RT_SL(b))
#define __builtin_mul_sh_uh_rrr(d, a, b) ((d) = __RT_SH(a) * __RT_UH(b))
#define __builtin_mul_sh_ul_rrr(d, a, b) ((d) = __RT_SH(a) * __RT_UL(b))
#define __builtin_mul_sl_sh_rrr(d, a, b) ((d) = __RT_SL(a) * __RT_SH(b))
#define __builtin_mul_sl_sl_rrr(d, a, b) ((d) = __RT_SL(a) * __RT_SL(b))
#define __builtin_mul_sl_uh_rrr(d, a, b) ((d) = __RT_SL(a) * __RT_UH(b))
#define __builtin_mul_sl_ul_rrr(d, a, b) ((d) = __RT_SL(a) * __RT_UL(b))
#define __builtin_mul_uh_uh_rrr(d, a, b) ((d) = __RT_UH(a) * __RT_UH(b))
#define __builtin_mul_uh_ul_rrr(d, a, b) ((d) = __RT_UH(a) * __RT_UL(b))
#define __builtin_mul_ul_uh_rrr(d, a, b) ((d) = __RT_UL(a) * __RT_UH(b))
#define __builtin_mul_ul_ul_rrr(d, a, b) ((d) = __RT_UL(a) * __RT_UL(b))

/* 1 in every byte where a and b are equal */
static inline uint32_t __rt_cmpb4(uint32_t a, uint32_t b)
{
    uint32_t result = 0;
    for (int i = 0; i < 32; i += 8)
        result |= (uint32_t)((((a ^ b) >> i) & 0xff) == 0) << i;
    return result;
}

static inline uint32_t __rt_clz(uint32_t a)
{
    return a ? (uint32_t)__builtin_clz(a) : 32;
}

static inline uint32_t __rt_rol(uint32_t a, uint32_t n)
{
    return a << (n & 31) | a >> (-n & 31);
}

#define __builtin_cmpb4_rrr(d, a, b) ((d) = __rt_cmpb4((uint32_t)(a), (uint32_t)(b)))
#define __builtin_cao_rr(d, a) ((d) = __builtin_popcount((uint32_t)(a)))
#define __builtin_clz_rr(d, a) ((d) = __rt_clz((uint32_t)(a)))
#define __builtin_clo_rr(d, a) ((d) = __rt_clz(~(uint32_t)(a)))
#define __builtin_cls_rr(d, a) \
    ((d) = __rt_clz((int32_t)(a) < 0 ? ~(uint32_t)(a) : (uint32_t)(a)))
#define __builtin_rol_rri(d, a, n) ((d) = __rt_rol((uint32_t)(a), (uint32_t)(n)))
#define __builtin_rol_rrr(d, a, n) ((d) = __rt_rol((uint32_t)(a), (uint32_t)(n)))
#define __builtin_ror_rri(d, a, n) ((d) = __rt_rol((uint32_t)(a), -(uint32_t)(n)))
#define __builtin_ror_rrr(d, a, n) ((d) = __rt_rol((uint32_t)(a), -(uint32_t)(n)))
#define __builtin_lsl_rri(d, a, n) ((d) = (uint32_t)(a) << ((n)&31))
#define __builtin_lsl_rrr(d, a, n) ((d) = (uint32_t)(a) << ((n)&31))
#define __builtin_lsr_rri(d, a, n) ((d) = (uint32_t)(a) >> ((n)&31))
#define __builtin_lsr_rrr(d, a, n) ((d) = (uint32_t)(a) >> ((n)&31))
#define __builtin_asr_rri(d, a, n) ((d) = (int32_t)(a) >> ((n)&31))
#define __builtin_asr_rrr(d, a, n) ((d) = (int32_t)(a) >> ((n)&31))
#define __builtin_lsl_add_rrri(d, a, b, n) ((d) = (uint32_t)(a) + ((uint32_t)(b) << ((n)&31)))
#define __builtin_lsl_sub_rrri(d, a, b, n) ((d) = (uint32_t)(a) - ((uint32_t)(b) << ((n)&31)))
#define __builtin_lsr_add_rrri(d, a, b, n) ((d) = (uint32_t)(a) + ((uint32_t)(b) >> ((n)&31)))
#define __builtin_rol_add_rrri(d, a, b, n) \
    ((d) = (uint32_t)(a) + __rt_rol((uint32_t)(b), (uint32_t)(n)))
#define __builtin_extsb_rr(d, a) ((d) = (int32_t)(int8_t)(a))
#define __builtin_extsh_rr(d, a) ((d) = (int32_t)(int16_t)(a))
#define __builtin_extub_rr(d, a) ((d) = (uint8_t)(a))
#define __builtin_extuh_rr(d, a) ((d) = (uint16_t)(a))
#define __builtin_add_rrr(d, a, b) ((d) = (uint32_t)(a) + (uint32_t)(b))
#define __builtin_add_rri(d, a, b) ((d) = (uint32_t)(a) + (uint32_t)(b))
#define __builtin_sub_rrr(d, a, b) ((d) = (uint32_t)(a) - (uint32_t)(b))
#define __builtin_sub_rri(d, a, b) ((d) = (uint32_t)(a) - (uint32_t)(b))
#define __builtin_and_rrr(d, a, b) ((d) = (uint32_t)(a) & (uint32_t)(b))
#define __builtin_and_rri(d, a, b) ((d) = (uint32_t)(a) & (uint32_t)(b))
#define __builtin_or_rrr(d, a, b) ((d) = (uint32_t)(a) | (uint32_t)(b))
#define __builtin_or_rri(d, a, b) ((d) = (uint32_t)(a) | (uint32_t)(b))
#define __builtin_xor_rrr(d, a, b) ((d) = (uint32_t)(a) ^ (uint32_t)(b))
#define __builtin_xor_rri(d, a, b) ((d) = (uint32_t)(a) ^ (uint32_t)(b))
#define __builtin_andn_rrr(d, a, b) ((d) = ~(uint32_t)(a) & (uint32_t)(b))
#define __builtin_orn_rrr(d, a, b) ((d) = ~(uint32_t)(a) | (uint32_t)(b))
#define __builtin_nand_rrr(d, a, b) ((d) = ~((uint32_t)(a) & (uint32_t)(b)))
#define __builtin_nor_rrr(d, a, b) ((d) = ~((uint32_t)(a) | (uint32_t)(b)))
#define __builtin_nxor_rrr(d, a, b) ((d) = ~((uint32_t)(a) ^ (uint32_t)(b)))
#define __builtin_move_rr(d, a) ((d) = (a))
#define __builtin_move_ri(d, a) ((d) = (a))
#define __builtin_nop_() __asm__ __volatile__("nop")
#define __builtin_nop() __asm__ __volatile__("nop")

#endif
