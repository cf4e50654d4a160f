/*
 * x86-64: entry of a worker, the switch between tasklets, and what a signal needs.
 * Valid for 32-bit (x32) and 64-bit pointers: pointer arguments are below 4 GiB in both.
 */
    .cfi_sections .debug_frame
    .text
    .globl _start, rt_switch, rt_leave, rt_fiber_entry, rt_preempted, rt_restorer
    .hidden rt_switch, rt_leave, rt_fiber_entry, rt_preempted, rt_restorer

/* Copies argv[1] below 4 GiB, moves to a stack below 4 GiB and starts. */
_start:
    movq (%rsp), %rcx
    cmpq $2, %rcx
    jb 2f
    movq 16(%rsp), %rsi
    movl $rt_arguments, %edi
    movl $255, %ecx
1:  movb (%rsi), %al
    movb %al, (%rdi)
    incq %rsi
    incq %rdi
    testb %al, %al
    loopnz 1b
2:  movl $rt_main_stack_end, %esp
    xorl %ebp, %ebp
    call rt_main
    hlt

/* rt_switch(uint64_t *save, uint64_t to) */
rt_switch:
    movl %edi, %edi
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    jmp 3f

/* rt_leave(uint64_t to): like rt_switch, the present context is given up */
rt_leave:
    movq %rdi, %rsp
3:  popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret

/* First return of a new tasklet. */
rt_fiber_entry:
    .cfi_startproc
    .cfi_undefined %rip
    xorl %ebp, %ebp
    call main
    call rt_tasklet_end
    hlt
    .cfi_endproc

/* Calls C from a place where any register may hold something: the two go together. */
    .macro save_registers
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %rbx
    pushq %rbp
    movq %rsp, %rbp
    .endm
    .macro call_and_restore function
    subq $512, %rsp
    andq $-16, %rsp
    fxsave (%rsp)
    movq %rsp, %rbx
    cld
    call \function
    movq %rbx, %rsp
    fxrstor (%rsp)
    movq %rbp, %rsp
    popq %rbp
    popq %rbx
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    .endm

/*
 * A tick of the timer makes a tasklet that does not yield continue here. On the stack lies the
 * address where it was, above it the 128 bytes that its function may use below the stack pointer.
 */
rt_preempted:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa %rsp, 136
    .cfi_offset %rip, -136
    pushfq
    save_registers
    .cfi_def_cfa %rbp, 232
    .cfi_offset %rbp, -232
    .cfi_offset %rbx, -224
    .cfi_offset %r11, -216
    .cfi_offset %r10, -208
    .cfi_offset %r9, -200
    .cfi_offset %r8, -192
    .cfi_offset %rdi, -184
    .cfi_offset %rsi, -176
    .cfi_offset %rdx, -168
    .cfi_offset %rcx, -160
    .cfi_offset %rax, -152
    call_and_restore rt_yield
    popfq
    ret $128
    .cfi_endproc

/*
 * From asm statements (dpu_asm.h): the operand lies above the return address. Nothing but the flags
 * may change.
 */
    .macro from_asm name, target
    .globl \name
    .hidden \name
\name:
    save_registers
    movl 96(%rsp), %edi
    call_and_restore \target
    ret
    .endm
    from_asm __rt_asm_acquire, __rt_acquire
    from_asm __rt_asm_release, __rt_release
    from_asm __rt_asm_resume, __rt_resume
    from_asm __rt_asm_stop, __rt_stop
    from_asm __rt_asm_fault, __rt_program_fault

rt_restorer:
    movl $15, %eax
    syscall

    .bss
    .balign 64
    .globl rt_arguments
    .hidden rt_arguments
rt_arguments:
    .zero 256
rt_main_stack:
    .zero 32768
rt_main_stack_end:
    .section .note.GNU-stack, "", @progbits
