/*
 * DPU instructions that programs write in asm statements. The ones that synchronise become calls of
 * the runtime; any other DPU mnemonic is an error of the assembler ("invalid instruction mnemonic").
 */
#ifndef UPMEM_SYSLIB_DPU_ASM_H
#define UPMEM_SYSLIB_DPU_ASM_H

/* 136: the 128 bytes that a function may use below its stack pointer, and the operand. */
__asm__(".ifndef __rt_asm_macros\n"
        ".set __rt_asm_macros, 1\n"
        ".macro __rt_asm_call function, register, immediate\n"
        "lea -136(%rsp), %rsp\n"
        "movl $0, (%rsp)\n"
        ".ifnc \\register,zero\n"
        "mov \\register, (%rsp)\n"
        ".endif\n"
        ".ifnb \\immediate\n"
        "addl $\\immediate, (%rsp)\n"
        ".endif\n"
        "call \\function\n"
        "lea 136(%rsp), %rsp\n"
        ".endm\n"
        ".macro acquire register, immediate, condition, target\n"
        "__rt_asm_call __rt_asm_acquire, \\register, \\immediate\n"
        ".endm\n"
        ".macro release register, immediate, condition, target\n"
        "__rt_asm_call __rt_asm_release, \\register, \\immediate\n"
        ".endm\n"
        ".macro resume register, immediate, condition, target\n"
        "__rt_asm_call __rt_asm_resume, \\register, \\immediate\n"
        ".endm\n"
        ".macro stop condition, target\n"
        "__rt_asm_call __rt_asm_stop, zero, 0\n"
        ".endm\n"
        ".macro fault immediate\n"
        "__rt_asm_call __rt_asm_fault, zero, \\immediate\n"
        ".endm\n"
        ".endif\n");

#endif
